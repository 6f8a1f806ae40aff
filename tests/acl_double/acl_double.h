// A strict double of the public ACL runtime (CANN) for machines without a card: device memory that
// the host cannot touch, streams that really run late, and a record of every misuse. What passes on
// it has a fair chance on a card. Signatures, constants and error codes are those of
// acl/acl_base.h, acl/acl_rt.h and acl/error_codes/rt_error_codes.h.
//
// Environment, read at aclInit and by calls before it:
//   ACL_DOUBLE_DEVICES=N                 devices (default 8)
//   ACL_DOUBLE_SEED=S                    seed of the streams' delays (default 0)
//   ACL_DOUBLE_MEMORY=BYTES              memory of a device (default 1 GiB)
//   ACL_DOUBLE_NO_PEER=A-B[,C-D]         no peer access between A and B, either way
//   ACL_DOUBLE_FAIL=FUNCTION:K[:CODE]    the K-th call of FUNCTION fails (from 1; default 507899)
//   ACL_DOUBLE_FLIP=BYTES                copies of so many bytes to the host come with their first
//   bit
//                                        turned, as from a card that fails in silence
//   ACL_DOUBLE_REPORT=FILE               misuse and leaks, one a line; empty when there are none
//   ACL_DOUBLE_LOG=FILE                  every call's name, one a line, in order
// A value that cannot be read is one line on stderr, and ends the process with status 2.
#ifndef SYMRACE_TESTS_ACL_DOUBLE_ACL_DOUBLE_H_
#define SYMRACE_TESTS_ACL_DOUBLE_ACL_DOUBLE_H_

#include <cstddef>
#include <cstdint>

#define ACL_DOUBLE_PUBLIC __attribute__((visibility("default")))

extern "C" {

using aclError = int;
using aclrtStream = void*;

inline constexpr aclError ACL_SUCCESS = 0;
inline constexpr aclError ACL_ERROR_INVALID_PARAM = 100000;
inline constexpr aclError ACL_ERROR_UNINITIALIZE = 100001;
inline constexpr aclError ACL_ERROR_REPEAT_INITIALIZE = 100002;
inline constexpr aclError ACL_ERROR_INVALID_FILE = 100003;
inline constexpr aclError ACL_ERROR_REPEAT_FINALIZE = 100037;
inline constexpr aclError ACL_ERROR_RT_PARAM_INVALID = 107000;
inline constexpr aclError ACL_ERROR_RT_INVALID_DEVICEID = 107001;
inline constexpr aclError ACL_ERROR_RT_CONTEXT_NULL = 107002;
inline constexpr aclError ACL_ERROR_RT_STREAM_CONTEXT = 107003;
inline constexpr aclError ACL_ERROR_RT_ADDR_UNALIGNED = 107008;
inline constexpr aclError ACL_ERROR_RT_INVALID_HANDLE = 107017;
inline constexpr aclError ACL_ERROR_FEATURE_UNSUPPORTED = 200006;
inline constexpr aclError ACL_ERROR_RT_FEATURE_NOT_SUPPORT = 207000;
inline constexpr aclError ACL_ERROR_RT_MEMORY_ALLOCATION = 207001;
inline constexpr aclError ACL_ERROR_RT_MEMORY_FREE = 207002;
inline constexpr aclError ACL_ERROR_RT_DRV_INTERNAL_ERROR = 507899;

enum aclrtMemcpyKind : std::uint32_t {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
};

enum aclrtMemMallocPolicy : std::uint32_t {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
};

enum aclrtMemAttr : std::uint32_t { ACL_DDR_MEM = 0, ACL_HBM_MEM = 1 };

enum aclrtReduceKind : std::uint32_t {
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM = 10,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13,
};

enum aclDataType : std::int32_t {
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_BF16 = 27,
};

// Every function returns ACL_SUCCESS or a code, and leaves a text of its failure for the calling
// thread. `config` is null or a readable file.
ACL_DOUBLE_PUBLIC aclError aclInit(const char* config);
// Records what is still allocated, created or set, and releases it.
ACL_DOUBLE_PUBLIC aclError aclFinalize();
// The calling thread's last failure, which it also clears; null when there is none. The text lives
// until the thread's next call of this function.
ACL_DOUBLE_PUBLIC const char* aclGetRecentErrMsg();

ACL_DOUBLE_PUBLIC aclError aclrtGetDeviceCount(std::uint32_t* count);
// Sets and resets are counted a device; the last reset releases its streams and memory.
ACL_DOUBLE_PUBLIC aclError aclrtSetDevice(std::int32_t device);
ACL_DOUBLE_PUBLIC aclError aclrtResetDevice(std::int32_t device);
ACL_DOUBLE_PUBLIC const char* aclrtGetSocName();
ACL_DOUBLE_PUBLIC aclError aclrtDeviceCanAccessPeer(std::int32_t* can_access, std::int32_t device,
                                                    std::int32_t peer);
// From the current device to `peer` only. A copy or reduction between two devices needs both ways,
// as in the vendor's example.
ACL_DOUBLE_PUBLIC aclError aclrtDeviceEnablePeerAccess(std::int32_t peer, std::uint32_t flags);

// Not zeroed.
ACL_DOUBLE_PUBLIC aclError aclrtMalloc(void** pointer, std::size_t bytes,
                                       aclrtMemMallocPolicy policy);
// At once: it waits for no stream.
ACL_DOUBLE_PUBLIC aclError aclrtFree(void* pointer);
ACL_DOUBLE_PUBLIC aclError aclrtGetMemInfo(aclrtMemAttr attribute, std::size_t* free,
                                           std::size_t* total);
// Memset and memcpy run at once, and are not ordered with any stream.
ACL_DOUBLE_PUBLIC aclError aclrtMemset(void* pointer, std::size_t max_bytes, std::int32_t value,
                                       std::size_t bytes);
ACL_DOUBLE_PUBLIC aclError aclrtMemcpy(void* to, std::size_t to_max, const void* from,
                                       std::size_t bytes, aclrtMemcpyKind kind);
// Reads and writes host memory when it runs, also memory that is not pinned.
ACL_DOUBLE_PUBLIC aclError aclrtMemcpyAsync(void* to, std::size_t to_max, const void* from,
                                            std::size_t bytes, aclrtMemcpyKind kind,
                                            aclrtStream stream);
// to[i] = kind(to[i], from[i]); atomic with other reductions, piece by piece of 4 KiB.
ACL_DOUBLE_PUBLIC aclError aclrtReduceAsync(void* to, const void* from, std::uint64_t bytes,
                                            aclrtReduceKind kind, aclDataType type,
                                            aclrtStream stream, void* reserved);

// There is no default stream here: a null stream is misuse.
ACL_DOUBLE_PUBLIC aclError aclrtCreateStream(aclrtStream* stream);
// Waits for its work, as documented; that the work was not synchronised before is misuse, as
// documented too.
ACL_DOUBLE_PUBLIC aclError aclrtDestroyStream(aclrtStream stream);
ACL_DOUBLE_PUBLIC aclError aclrtSynchronizeStream(aclrtStream stream);

// For tests. Forgets everything, and takes its settings from `settings` (NAME=VALUE, separated by
// spaces), or from the environment when it is null. No other thread may be in a call.
ACL_DOUBLE_PUBLIC void acl_double_reset(const char* settings);
ACL_DOUBLE_PUBLIC std::size_t acl_double_violations();
// The i-th, from 0; null beyond the last. The text lives until the reset.
ACL_DOUBLE_PUBLIC const char* acl_double_violation(std::size_t index);
// While held, a stream runs only when somebody waits for it.
ACL_DOUBLE_PUBLIC void acl_double_hold_streams(bool held);

}  // extern "C"

#endif  // SYMRACE_TESTS_ACL_DOUBLE_ACL_DOUBLE_H_
