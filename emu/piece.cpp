#include "emu/piece.h"

namespace emu {

symrace::OpKind Piece::primitive() const {
  using symrace::OpKind;
  if (!symrace::is_collective(op)) return op;
  switch (release_class) {
    case ReleaseClass::kLocalStore:
      return OpKind::kStore;
    case ReleaseClass::kRemoteStore:
      return OpKind::kRemoteStore;
    case ReleaseClass::kPut:
    case ReleaseClass::kPutTail:
      return OpKind::kPut;
    case ReleaseClass::kSignal:
      return OpKind::kNotify;
    case ReleaseClass::kRead:
      break;
  }
  return effect == Effect::kReadTile ? OpKind::kRemoteLoad : OpKind::kGet;
}

}  // namespace emu
