// The arithmetic of the tensor engine.
//
// LoadStationary puts a tile of K rows x M columns into the array,
// MultiplyMoving streams K rows x N columns through it, and
//   sums[m][n] = sum over k of stationary[k][m] * moving[k][n]
// goes to PSUM: M rows (partitions) x N columns of fp32.
//
// How the sum is rounded is a named rule (spec/decisions.md, "Silicon
// fingerprints"; `--numerics matmul=...`):
//   kSilicon  The K rows are cut in groups of 32; a group is one ascending
//             chain of fused multiply-adds in fp32 from +0; the groups' sums
//             are added in ascending order in fp32. (fitted on trn2 for fp32
//             inputs, assumed for narrower ones.)
//   kChain    One ascending chain of fused multiply-adds in fp32 from +0.
//   kExact    An ascending sum in fp64, rounded once to fp32.
//
// Narrow inputs (bf16, fp16, fp8, tf32) are widened to fp32 first, which is
// exact, and take one pass. fp32 inputs take two, of which each has one half
// of the stationary tile: see Stationary::LoadHalf and MultiplyMovingFp32Pass.
//
// The bits of a result depend on nothing but the inputs and the rule: not on
// the instruction set, the blocking or the compiler. Any NaN that is written
// is the positive quiet one, 0x7FC00000 (assumed: the device's is unknown).
#ifndef TRNEMU_CORE_NUMERICS_MATMUL_H_
#define TRNEMU_CORE_NUMERICS_MATMUL_H_

#include <cstddef>
#include <cstdint>

#include "core/numerics/options.h"  // MatmulRule

namespace trnemu {

// Whether the sums replace what PSUM holds or are added to it in fp32.
enum class PsumWrite : uint8_t { kOverwrite, kAccumulate };

// Which half of the fp32 stationary tile a pass has in the array. The device
// runs the LO pass first.
enum class Fp32Half : uint8_t { kLo, kHi };

// Physical rows of the array that share one chain of additions.
inline constexpr size_t kMatmulGroupRows = 32;

// A stationary tile, laid out for the kernels. 256 KiB, cache line aligned,
// meant to be loaded many times; Load does not allocate. A tile that was never
// loaded has no rows and no columns.
//
// Its columns are cut in blocks, which follow one another: FullBlocks() of 6,
// then as TailBlock says. A block is num_rows rows of its columns; those past
// the last column are 0.
class Stationary {
 public:
  // 128 physical rows, each of up to four logical ones (MX); fp8 double_row
  // has two, everything else one.
  static constexpr size_t kMaxRows = 512;
  static constexpr size_t kMaxColumns = 128;
  // Columns of a block: as many as the kernels have registers for.
  static constexpr size_t kBlockColumns = 6;

  // Loads num_rows x num_columns values, which lie row_stride elements apart
  // from row to row. A group of the silicon rule is group_rows of these rows;
  // when a physical row carries several logical rows (double_row: r * K + k)
  // the caller orders them group by group, and passes 32 times as many.
  void Load(const float* rows, size_t row_stride, size_t num_rows,
            size_t num_columns, size_t group_rows = kMatmulGroupRows);
  // The same from bfloat16 bit patterns.
  void LoadBf16(const uint16_t* rows, size_t row_stride, size_t num_rows,
                size_t num_columns, size_t group_rows = kMatmulGroupRows);
  // Loads what a pass of an fp32 matmul multiplies. Give it the full values
  // and the same rule as MultiplyMovingFp32Pass. kSilicon: that half of each
  // value. kChain and kExact know no halves: the HI pass gets the full values,
  // the LO pass a tile without rows, whose sums are +0 whatever moves.
  void LoadHalf(Fp32Half half, MatmulRule rule, const float* rows,
                size_t row_stride, size_t num_rows, size_t num_columns);

  size_t num_rows() const { return num_rows_; }
  size_t num_columns() const { return num_columns_; }
  size_t group_rows() const { return group_rows_; }
  const float* values() const { return values_; }
  // What was loaded at a row and a column. Slow.
  float At(size_t row, size_t column) const;

  // How many blocks of 6 columns lead; 1 or 2 columns more would keep few
  // multipliers busy, so a block of 6 is given up for 4 + 3 or 4 + 4.
  static constexpr size_t FullBlocks(size_t columns) {
    const size_t rest = columns % kBlockColumns;
    const size_t blocks = columns / kBlockColumns;
    return blocks > 0 && (rest == 1 || rest == 2) ? blocks - 1 : blocks;
  }
  // The width of the next block after those: 1, 2, 4 or 6.
  static constexpr size_t TailBlock(size_t columns_left) {
    if (columns_left > 6) return 4;
    if (columns_left > 4) return kBlockColumns;
    return columns_left == 3 ? 4 : columns_left;
  }

 private:
  void SetShape(size_t num_rows, size_t num_columns, size_t group_rows);
  template <typename T, typename Convert>
  void Pack(const T* rows, size_t row_stride, Convert convert);

  size_t num_rows_ = 0;
  size_t num_columns_ = 0;
  size_t group_rows_ = kMatmulGroupRows;
  alignas(64) float values_[kMaxRows * kMaxColumns];
};

// Multiplies narrow inputs: `moving` has stationary.num_rows() rows of
// num_columns already widened values, moving_stride elements apart; `psum` has
// stationary.num_columns() rows of num_columns sums, psum_stride apart. Any
// num_columns; moving and psum must not overlap.
void MultiplyMoving(const Stationary& stationary, const float* moving,
                    size_t moving_stride, size_t num_columns, MatmulRule rule,
                    float* psum, size_t psum_stride,
                    PsumWrite write = PsumWrite::kOverwrite);

// The same with the moving tile as bfloat16 bit patterns, widened on the way.
void MultiplyMovingBf16(const Stationary& stationary, const uint16_t* moving,
                        size_t moving_stride, size_t num_columns,
                        MatmulRule rule, float* psum, size_t psum_stride,
                        PsumWrite write = PsumWrite::kOverwrite);

// One pass of an fp32 matmul; `moving` holds the full fp32 values and
// `stationary` what LoadHalf put there. kSilicon: the moving tile's lo halves,
// then its hi halves, are each summed by the rule above, the two sums (lo + hi)
// are added, and that is what is written. An infinity meets the 0 of the other
// operand's lo half, so its sums are NaN; what the device does is not known.
void MultiplyMovingFp32Pass(const Stationary& stationary, const float* moving,
                            size_t moving_stride, size_t num_columns,
                            MatmulRule rule, float* psum, size_t psum_stride,
                            PsumWrite write = PsumWrite::kOverwrite);

// Cuts each 24-bit significand in 12 + 12 bits by truncation: hi keeps the top
// 11 stored bits and lo = x - hi, both exact. Not finite: hi = x, lo = 0.
void SplitHalves(const float* x, size_t n, float* hi, float* lo);

// psum[i] = psum[i] + sums[i] in fp32; they must not overlap.
void AccumulateRow(float* psum, const float* sums, size_t n);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_MATMUL_H_
