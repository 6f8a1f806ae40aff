/* The sweep of rma_bench through OpenSHMEM, on two PEs: what a user would get today. Prints one JSON
 * object in the form of Google Benchmark's output, so that the same script reads both.
 *   oshcc -O2 bench/peer_oshmem.c -o peer_oshmem && oshrun -n 2 ./peer_oshmem
 * An argument is the seconds that each point is measured for. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kMostBytes = 16 << 20 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *source, *target;
static int *flag;
static double seconds_a_point = 0.1;
static int printed = 0;

static void print(const char *name, size_t bytes, double seconds) {
  if (shmem_my_pe() != 0) return;
  printf("%s\n    {\"name\": \"%s", printed++ ? "," : "", name);
  if (bytes != 0) printf("/%zu", bytes);
  printf("\", \"real_time\": %.3f, \"time_unit\": \"ns\"", seconds * 1e9);
  if (bytes != 0) printf(", \"bytes_per_second\": %.6e", (double)bytes / seconds);
  printf("}");
}

static void do_memcpy(size_t bytes) {
  memcpy(target, source, bytes);
  __asm__ volatile("" ::: "memory");
}
static void do_put(size_t bytes) {
  shmem_putmem(target, source, bytes, 1);
  shmem_quiet();
}
static void do_get(size_t bytes) { shmem_getmem(target, source, bytes, 1); }

/* The best of five rounds, which together take as long as was asked for: what disturbs only adds.
 * PE 1 sleeps meanwhile, where a barrier would spin: rank 1 of rma_bench is done, too. */
static void measure(const char *name, size_t bytes, void (*op)(size_t)) {
  *flag = 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    op(bytes);
    size_t count = 1;
    double best = 1e9;
    for (;;) {
      const double begin = now();
      for (size_t i = 0; i < count; ++i) op(bytes);
      const double took = now() - begin;
      if (took >= seconds_a_point / 5) break;
      count *= 2;
    }
    for (int round = 0; round < 5; ++round) {
      const double begin = now();
      for (size_t i = 0; i < count; ++i) op(bytes);
      const double took = (now() - begin) / (double)count;
      if (took < best) best = took;
    }
    print(name, bytes, best);
    shmem_int_p(flag, 1, 1);
  } else {
    while (!shmem_int_test(flag, SHMEM_CMP_EQ, 1)) usleep(1000);
  }
  shmem_barrier_all();
}

static void ping_pong(void) {
  enum { kTrips = 200000 };
  double best = 1e9;
  int value = 0;
  *flag = 0;
  for (int round = 0; round < 5; ++round) {
    shmem_barrier_all();
    const double begin = now();
    for (int i = 0; i < kTrips; ++i) {
      ++value;
      if (shmem_my_pe() == 0) {
        shmem_int_p(flag, value, 1);
        shmem_int_wait_until(flag, SHMEM_CMP_GE, value);
      } else {
        shmem_int_wait_until(flag, SHMEM_CMP_GE, value);
        shmem_int_p(flag, value, 0);
      }
    }
    const double one_way = (now() - begin) / kTrips / 2;
    if (one_way < best) best = one_way;
  }
  print("PingPong", 0, best);
}

static void barrier(void) {
  enum { kTimes = 200000 };
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    shmem_barrier_all();
    const double begin = now();
    for (int i = 0; i < kTimes; ++i) shmem_barrier_all();
    const double each = (now() - begin) / kTimes;
    if (each < best) best = each;
  }
  print("Barrier", 0, best);
}

int main(int argc, char **argv) {
  /* Open MPI 4.1.4 crashes in shmem_finalize while it closes this component of MPI's one-sided
   * operations, none of which are used here. */
  setenv("OMPI_MCA_osc", "^rdma", 0);
  shmem_init();
  if (shmem_n_pes() != 2) {
    if (shmem_my_pe() == 0) fprintf(stderr, "peer_oshmem: expected 2 PEs: oshrun -n 2\n");
    shmem_finalize();
    return 2;
  }
  if (argc > 1) seconds_a_point = atof(argv[1]);
  source = shmem_malloc(kMostBytes);
  target = shmem_malloc(kMostBytes);
  flag = shmem_malloc(sizeof(int));
  memset(source, 1, kMostBytes);
  memset(target, 2, kMostBytes);
  if (shmem_my_pe() == 0) printf("{\"benchmarks\": [");
  for (size_t bytes = 4; bytes <= kMostBytes; bytes *= 4) {
    measure("Memcpy", bytes, do_memcpy);
    measure("Put", bytes, do_put);
    measure("Get", bytes, do_get);
  }
  ping_pong();
  barrier();
  if (shmem_my_pe() == 0) printf("\n]}\n");
  fflush(stdout);
  shmem_finalize();
  return 0;
}
