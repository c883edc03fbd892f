// The views that an instruction reads and writes.
#ifndef TRNEMU_ISA_PASSES_ACCESSES_H_
#define TRNEMU_ISA_PASSES_ACCESSES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "isa/program.h"

namespace trnemu {

// The scales of the MX tile in the operand before: the first four of every 32
// rows of their view. Others may pack theirs between
// (nki/deep-dives/mxfp-matmul.rst:228).
inline bool HoldsMxScales(Opcode opcode, size_t operand) {
  switch (opcode) {
    case Opcode::kLoadStationaryMx:
      return operand == slot::LoadStationaryMx::kStationaryScale;
    case Opcode::kMultiplyMovingMx:
      return operand == slot::MultiplyMovingMx::kMovingScale;
    case Opcode::kQuantizeMx:
      return operand == slot::QuantizeMx::kDstScale;
    default:
      return false;
  }
}

// Calls visit(rows, role) for what a CollectiveV touches of its metadata: it
// reads rows 0, 1 and, with has_rdispls, 3 when it is triggered; unless
// recv_counts_known it writes row 2 at its end.
template <typename Visit>
void ForEachMetadataRow(const CoreProgram& core, const Instruction& v,
                        Visit visit) {
  using S = slot::CollectiveV;
  const Access& all = core.OperandsOf(v)[S::kMetadata].access;
  const auto attributes = core.AttributesOf(v);
  const bool displacements = attributes[S::kHasRdispls].boolean();
  const int64_t columns = all.size() / (displacements ? 4 : 3);
  const auto rows = [&](int64_t first, int64_t count, Role role) {
    Access part = all;
    for (int d = 0; d < part.rank; ++d) {  // the first that is not 1
      Dim& dim = part.dims[static_cast<size_t>(d)];
      if (dim.count == 1) continue;
      const int64_t each = d + 1 == part.rank ? columns : 1;
      part.offset += first * each * dim.step;
      dim.count = count * each;
      break;
    }
    visit(part, role);
  };
  rows(0, 2, Role::kIn);
  if (displacements) rows(3, 1, Role::kIn);
  if (!attributes[S::kRecvCountsKnown].boolean()) rows(2, 1, Role::kOut);
}

// Calls visit(access, role, whether it is a tile of indices or metadata) for
// each.
template <typename Visit>
void ForEachAccess(const CoreProgram& core, const Instruction& instruction,
                   Visit visit) {
  const auto specs = Info(instruction.opcode).operands;
  const auto operands = core.OperandsOf(instruction);
  for (size_t i = 0; i < specs.size(); ++i) {
    if (operands[i].kind != Operand::Kind::kAccess) continue;
    const Access& access = operands[i].access;
    if (const Indirection* n = core.IndirectionOf(access);
        n != nullptr && n->has_index()) {
      visit(n->index, Role::kIn, true);
    }
    if (instruction.opcode == Opcode::kCollectiveV &&
        i == slot::CollectiveV::kMetadata) {
      ForEachMetadataRow(core, instruction, [&](const Access& a, Role role) {
        visit(a, role, role == Role::kIn);
      });
      continue;
    }
    if (!HoldsMxScales(instruction.opcode, i)) {
      visit(access, specs[i].role, false);
      continue;
    }
    Access rows = access;
    rows.partitions = std::min<uint16_t>(4, access.partitions);
    for (int q = 0; q < operands[i - 1].access.partitions / 32; ++q) {
      visit(rows, specs[i].role, false);
      rows.start_partition = static_cast<uint16_t>(rows.start_partition + 32);
    }
  }
}

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_ACCESSES_H_
