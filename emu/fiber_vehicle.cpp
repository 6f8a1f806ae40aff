#include <cxxabi.h>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <utility>
#include <vector>

#include "core/address_sanitizer.h"
#include "emu/vehicle.h"

#ifdef SYMRACE_HAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emu {
namespace {

namespace context = boost::context;

// The exceptions that a thread is handling belong to whichever fiber handles them: without this, a
// kernel that parks inside a catch block would leave its exception to another rank. The layout is
// the Itanium C++ ABI's.
struct HandledExceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};
HandledExceptions* handled_exceptions() {
  return reinterpret_cast<HandledExceptions*>(abi::__cxa_get_globals());
}

// A suspended fiber that is destroyed unwinds unannounced, and leaves AddressSanitizer's marks on
// its stack: they must not outlive it, since the next mapping at this address would inherit them.
class StackAllocator : public context::protected_fixedsize_stack {
 public:
  explicit StackAllocator(std::size_t bytes) : context::protected_fixedsize_stack(bytes) {}
  void deallocate(context::stack_context& stack) noexcept {
#ifdef SYMRACE_HAS_ASAN
    __asan_unpoison_memory_region(static_cast<char*>(stack.sp) - stack.size, stack.size);
#endif
    context::protected_fixedsize_stack::deallocate(stack);
  }
};

class FiberVehicle final : public Vehicle {
 public:
  FiberVehicle(std::int32_t ranks, std::size_t stack_bytes, Passenger& passenger)
      : seats_(static_cast<std::size_t>(ranks) + 1), passenger_(passenger) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      StackAllocator allocator(stack_bytes);
      context::stack_context stack = allocator.allocate();
      Seat& seat = seats_[static_cast<std::size_t>(rank)];
      seat.stack_bytes = stack.size;
      seat.stack_bottom = static_cast<char*>(stack.sp) - stack.size;
      seat.fiber =
          context::fiber(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack),
                         allocator, [this, rank, ranks](context::fiber&& from) {
                           *handled_exceptions() = {};
                           finish_switch(nullptr);
                           seats_[static_cast<std::size_t>(previous_)].fiber = std::move(from);
                           passenger_.ride(rank);
                           previous_ = rank;
                           start_switch(nullptr, seats_[static_cast<std::size_t>(ranks)]);
                           return std::move(seats_[static_cast<std::size_t>(ranks)].fiber);
                         });
    }
  }

  void switch_to(std::int32_t from, std::int32_t to) override {
    previous_ = from;
    Seat& target = seats_[static_cast<std::size_t>(to)];
    void* fake_stack = nullptr;
    start_switch(&fake_stack, target);
    HandledExceptions* handled = handled_exceptions();
    const HandledExceptions mine = *handled;
    context::fiber resumed_by = std::move(target.fiber).resume();
    *handled = mine;
    finish_switch(fake_stack);
    seats_[static_cast<std::size_t>(previous_)].fiber = std::move(resumed_by);
  }

 private:
  struct Seat {
    context::fiber fiber;  // of a suspended seat
    const void* stack_bottom = nullptr;
    std::size_t stack_bytes = 0;
  };

  // AddressSanitizer must be told of every change of stacks.
  void start_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const Seat& target) {
#ifdef SYMRACE_HAS_ASAN
    __sanitizer_start_switch_fiber(fake_stack, target.stack_bottom, target.stack_bytes);
#endif
  }
  void finish_switch([[maybe_unused]] void* fake_stack) {
#ifdef SYMRACE_HAS_ASAN
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(fake_stack, &bottom, &bytes);
    Seat& previous = seats_[static_cast<std::size_t>(previous_)];
    previous.stack_bottom = bottom;
    previous.stack_bytes = bytes;
#endif
  }

  std::vector<Seat> seats_;  // main's is the last
  Passenger& passenger_;
  std::int32_t previous_ = 0;  // who switched last
};

}  // namespace

std::unique_ptr<Vehicle> make_fiber_vehicle(std::int32_t ranks, std::size_t stack_bytes,
                                            Passenger& passenger) {
  return std::make_unique<FiberVehicle>(ranks, stack_bytes, passenger);
}

}  // namespace emu
