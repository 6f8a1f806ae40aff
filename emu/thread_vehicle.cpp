#include <deque>
#include <semaphore>
#include <thread>
#include <vector>

#include "core/kernel_faults.h"
#include "emu/vehicle.h"

namespace emu {
namespace {

class ThreadVehicle final : public Vehicle {
 public:
  ThreadVehicle(std::int32_t ranks, Passenger& passenger) {
    for (std::int32_t seat = 0; seat <= ranks; ++seat) batons_.emplace_back(0);
    try {
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        threads_.emplace_back([this, rank, ranks, &passenger] {
          const symrace::FaultStack fault_stack;
          baton(rank).acquire();
          if (abandoned_) return;
          passenger.ride(rank);
          baton(ranks).release();
        });
      }
    } catch (...) {  // no more threads to be had: let go of those that wait
      abandoned_ = true;
      for (std::size_t rank = 0; rank < threads_.size(); ++rank) {
        batons_[rank].release();
        threads_[rank].join();
      }
      throw;
    }
  }

  // The passengers' ride() has returned, or returns at once when resumed: see Execution.
  ~ThreadVehicle() override {
    for (std::thread& thread : threads_) thread.join();
  }

  void switch_to(std::int32_t from, std::int32_t to) override {
    baton(to).release();
    baton(from).acquire();
  }

 private:
  std::binary_semaphore& baton(std::int32_t seat) {
    return batons_[static_cast<std::size_t>(seat)];
  }

  std::deque<std::binary_semaphore> batons_;
  std::vector<std::thread> threads_;
  bool abandoned_ = false;  // written before the baton is passed
};

}  // namespace

std::unique_ptr<Vehicle> make_thread_vehicle(std::int32_t ranks, Passenger& passenger) {
  return std::make_unique<ThreadVehicle>(ranks, passenger);
}

}  // namespace emu
