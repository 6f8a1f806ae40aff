#include "emu/model.h"

namespace emu {

Model Model::sc() {
  return {.name = "sc",
          .posts_local_stores = false,
          .posts_remote_stores = false,
          .posts_puts = false,
          .posts_notifies = false};
}

Model Model::documented() { return {}; }

Model Model::a2a3() {
  Model model;
  model.name = "a2a3";
  model.releases =
      static_cast<std::uint8_t>(bit(ReleaseClass::kLocalStore) | bit(ReleaseClass::kPut));
  return model;
}

Model Model::weak() {
  Model model;
  model.name = "weak";
  model.put_reads_source_late = true;
  model.reads_are_deferred = true;
  model.releases = 0;
  return model;
}

std::optional<Model> Model::parse(std::string_view name) {
  for (const Model& model : {sc(), documented(), a2a3(), weak()}) {
    if (model.name == name) return model;
  }
  return std::nullopt;
}

}  // namespace emu
