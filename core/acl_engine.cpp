#include "core/acl_engine.h"

#include <absl/strings/str_cat.h>

#include <utility>

namespace symrace {
namespace {

absl::Status check_devices(AclRuntime& acl, const std::vector<std::int32_t>& devices) {
  const absl::StatusOr<std::int32_t> count = acl.device_count();
  if (!count.ok()) return count.status();
  for (const std::int32_t device : devices) {
    if (device < *count) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("-d: device ", device, " does not exist; the ACL runtime has ", *count,
                     *count == 1 ? " device" : " devices",
                     *count == 0 ? "" : absl::StrCat(", from 0 to ", *count - 1)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<AclEngine>> AclEngine::create(Program& program,
                                                             DirectOptions options) {
  absl::StatusOr<std::unique_ptr<AclRuntime>> acl = AclRuntime::load();
  if (!acl.ok()) return acl.status();
  const std::vector<std::int32_t> devices = options.devices;
  if (absl::Status status = check_devices(**acl, devices); !status.ok()) return status;
  const auto ranks = static_cast<std::int32_t>(devices.size());
  auto heap = std::make_unique<AclHeap>(**acl, ranks);
  auto waits = std::make_unique<PolledWaits>(ranks);
  PolledWaits& common = *waits;
  std::unique_ptr<AclEngine> engine(new AclEngine(program, *std::move(acl), std::move(heap),
                                                  std::move(waits), std::move(options)));
  if (absl::Status status = engine->open(common, devices); !status.ok()) return status;
  return engine;
}

AclEngine::AclEngine(Program& program, std::unique_ptr<AclRuntime> acl,
                     std::unique_ptr<AclHeap> heap, std::unique_ptr<PolledWaits> waits,
                     DirectOptions options)
    : DirectEngine(program, std::move(heap), std::move(waits), std::move(options)),
      acl_(std::move(acl)),
      heap_(static_cast<AclHeap&>(DirectEngine::heap())) {}

AclEngine::~AclEngine() { (void)close(); }

absl::Status AclEngine::on_device(std::size_t rank,
                                  const std::function<absl::Status(AclFabric&)>& call) {
  AclFabric& fabric = *fabrics_[rank];
  absl::Status status;
  on_rank(static_cast<std::int32_t>(rank), [&] { status = call(fabric); });
  if (status.ok()) return status;
  return {status.code(),
          absl::StrCat("rank ", rank, " on device ", fabric.device().id(), ": ", status.message())};
}

// Rank by rank, so that what is told of several failures is no chance.
absl::Status AclEngine::open(PolledWaits& waits, const std::vector<std::int32_t>& devices) {
  absl::Status started = start([&](std::int32_t rank) {
    auto fabric = std::make_unique<AclFabric>(rank, devices[static_cast<std::size_t>(rank)], *acl_,
                                              heap_, waits);
    fabrics_.push_back(fabric.get());
    return fabric;
  });
  if (!started.ok()) return started;
  while (opened_ < fabrics_.size()) {
    const std::size_t rank = opened_++;
    std::vector<std::int32_t> peers = devices;
    peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(rank));
    absl::Status status =
        on_device(rank, [&](AclFabric& fabric) { return fabric.device().open(peers); });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AclEngine::synchronize() {
  absl::Status first;
  for (std::size_t rank = 0; rank < opened_; ++rank) {
    first.Update(on_device(rank, [](AclFabric& fabric) { return fabric.device().synchronize(); }));
  }
  return first;
}

absl::Status AclEngine::clear_windows(std::uint64_t) {
  if (absl::Status status = synchronize(); !status.ok()) return status;
  for (std::size_t rank = 0; rank < fabrics_.size(); ++rank) {
    absl::Status status = on_device(
        rank, [&](AclFabric&) { return heap_.take_slice(static_cast<std::int32_t>(rank)); });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AclEngine::close() {
  absl::Status first = synchronize();
  while (opened_ > 0) {
    const std::size_t rank = --opened_;
    first.Update(on_device(rank, [&](AclFabric& fabric) {
      absl::Status status = heap_.free_slice(static_cast<std::int32_t>(rank));
      status.Update(fabric.device().close());
      return status;
    }));
  }
  if (acl_ != nullptr) {
    first.Update(acl_->finalize());
    acl_.reset();
  }
  return first;
}

}  // namespace symrace
