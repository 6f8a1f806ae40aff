// Vehicles: what a rank runs on. A vehicle has a seat a rank and one for the caller ("main");
// exactly one of them runs at any time, and hands over by name. The schedule does not depend on the
// vehicle.
#ifndef SYMRACE_EMU_VEHICLE_H_
#define SYMRACE_EMU_VEHICLE_H_

#include <cstdint>
#include <memory>

#include "emu/run.h"

namespace emu {

// What a seat runs, from its first switch to its end. Returns only when the vehicle is to be torn
// down; it must not throw.
class Passenger {
 public:
  virtual ~Passenger() = default;
  virtual void ride(std::int32_t rank) = 0;
};

class Vehicle {
 public:
  virtual ~Vehicle() = default;
  // Suspends seat `from`, which is running, and resumes `to`. Returns when someone resumes `from`.
  // A rank's seat is its rank; main's is the number of ranks.
  virtual void switch_to(std::int32_t from, std::int32_t to) = 0;
};

// Boost.Context fibers on pooled stacks with guard pages. A switch costs about 10 ns.
std::unique_ptr<Vehicle> make_fiber_vehicle(std::int32_t ranks, std::size_t stack_bytes,
                                            Passenger& passenger);
// One OS thread a rank, under a baton: for debuggers, sanitizers, and runtimes that own thread
// state. A hand-over costs some microseconds.
std::unique_ptr<Vehicle> make_thread_vehicle(std::int32_t ranks, Passenger& passenger);

}  // namespace emu

#endif  // SYMRACE_EMU_VEHICLE_H_
