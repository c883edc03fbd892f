#include "isa/hardware.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/opcodes.h"

namespace trnemu {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;

std::string TextOf(std::string_view stem) {
  for (const auto& [name, text] : EmbeddedHardwareFiles()) {
    if (name == stem) return std::string(text);
  }
  ADD_FAILURE() << "no description is named " << stem;
  return "";
}

// The built-in trn2 description with its first `from` replaced by `to`.
std::string Trn2With(const std::string& from, const std::string& to) {
  std::string text = TextOf("trn2");
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// What refuses `text`.
std::string Refusal(const std::string& text) {
  const auto hardware = LoadHardware(text);
  EXPECT_FALSE(hardware.ok());
  return hardware.ok() ? "" : std::string(hardware.status().message());
}

double Completion(const CostLaw& law, double n, double k = 0) {
  return law.completion_fixed_ns + law.array_fixed_ns +
         law.per_operand_ns *
             std::max(0.0, k - static_cast<double>(law.operands_included)) +
         std::max(law.completion_minimum_ns, n * law.completion_per_element_ns);
}
double Issue(const CostLaw& law, double n) {
  return law.issue_fixed_ns +
         std::max(law.issue_minimum_ns, n * law.issue_per_element_ns);
}
const CostLaw& Law(Target target, std::string_view opcode, Engine engine,
                   CostFacts facts = 0, FunctionSet functions = 0) {
  static const CostLaw kNone;
  const CostLaw* law =
      FindLaw(HardwareFor(target), opcode, engine, facts, functions);
  EXPECT_NE(law, nullptr) << opcode;
  return law == nullptr ? kNone : *law;
}

TEST(TargetTest, IsKnownByItsNameItsGenerationAndItsCore) {
  EXPECT_EQ(TargetFromName("trn1"), Target::kTrn1);
  EXPECT_EQ(TargetFromName("inf2"), Target::kTrn1);
  EXPECT_EQ(TargetFromName("gen2"), Target::kTrn1);
  EXPECT_EQ(TargetFromName("gen3"), Target::kTrn2);
  EXPECT_EQ(TargetFromName("gen4"), Target::kTrn3);
  EXPECT_EQ(TargetFromName("trn4"), std::nullopt);
  EXPECT_EQ(TargetFromName(""), std::nullopt);
  for (Target target : kTargets) {
    EXPECT_EQ(TargetFromName(Name(target)), target);
    EXPECT_EQ(HardwareFor(target).target, target);
    EXPECT_EQ(HardwareFor(target).generation, static_cast<int>(target));
    EXPECT_EQ(HardwareFor(target).name, Name(target));
  }
  EXPECT_EQ(HardwareFor(Target::kTrn2).core, "NeuronCore-v3");
}

TEST(HardwareTest, HasTheDocumentedMemorySizes) {
  const MemoryLimits& trn1 = HardwareFor(Target::kTrn1).memory;
  const MemoryLimits& trn2 = HardwareFor(Target::kTrn2).memory;
  const MemoryLimits& trn3 = HardwareFor(Target::kTrn3).memory;
  EXPECT_EQ(trn1.sbuf_partition_bytes, 196608);
  EXPECT_EQ(trn1.sbuf_usable_partition_bytes, 196608);
  EXPECT_EQ(trn2.sbuf_partition_bytes, 229376);
  EXPECT_EQ(trn2.sbuf_usable_partition_bytes, 229368);
  EXPECT_EQ(trn2.sbuf_usable_partition_bytes_with_swdge, 212984);
  EXPECT_EQ(trn3.sbuf_partition_bytes, 262144);
  EXPECT_EQ(trn3.sbuf_usable_partition_bytes, 262136);
  EXPECT_EQ(trn3.sbuf_usable_partition_bytes_with_swdge, 245752);
  EXPECT_EQ(trn1.hbm_bytes, int64_t{32} << 30);
  EXPECT_EQ(trn2.hbm_bytes, int64_t{96} << 30);
  EXPECT_EQ(trn3.hbm_bytes, int64_t{144} << 30);
  EXPECT_EQ(trn2.hbm_bytes_per_core, int64_t{12} << 30);
  EXPECT_EQ(trn1.hbm_stack_cores, 1);
  EXPECT_EQ(trn2.hbm_stack_cores, 2);
  EXPECT_EQ(trn2.hbm_stack_bandwidth, 750);
}

TEST(HardwareTest, HasEightPsumBanksOf2048BytesAPartitionEverywhere) {
  for (Target target : kTargets) {
    const MemoryLimits& memory = HardwareFor(target).memory;
    EXPECT_EQ(memory.partitions, 128);
    EXPECT_EQ(memory.psum_banks, 8);
    EXPECT_EQ(memory.psum_bank_bytes, 2048);
    EXPECT_EQ(memory.psum_partition_bytes, 16384);
  }
}

TEST(HardwareTest, HasTheDocumentedClocks) {
  const auto clocks = [](Target target) {
    const Hardware& hardware = HardwareFor(target);
    return std::vector<double>{hardware.engine(Engine::kTensor).clock_ghz,
                               hardware.engine(Engine::kVector).clock_ghz,
                               hardware.engine(Engine::kScalar).clock_ghz,
                               hardware.engine(Engine::kGpsimd).clock_ghz};
  };
  EXPECT_EQ(clocks(Target::kTrn1), (std::vector<double>{2.8, 1.12, 1.4, 1.4}));
  EXPECT_EQ(clocks(Target::kTrn2), (std::vector<double>{2.4, 0.96, 1.2, 1.2}));
  EXPECT_EQ(clocks(Target::kTrn3), (std::vector<double>{2.4, 1.2, 1.2, 1.2}));
}

TEST(HardwareTest, HasTheDocumentedLimits) {
  for (Target target : kTargets) {
    const Hardware& hardware = HardwareFor(target);
    EXPECT_EQ(hardware.access.max_count, 65535);
    EXPECT_EQ(hardware.access.min_step, -32768);
    EXPECT_EQ(hardware.access.max_step, 32767);
    EXPECT_EQ(hardware.access.max_free_dimensions, 4);
    EXPECT_EQ(hardware.access.sbuf_free_max, 65536);
    EXPECT_EQ(hardware.access.psum_free_max, 4096);
    EXPECT_EQ(hardware.tensor.rows, 128);
    EXPECT_EQ(hardware.tensor.columns, 128);
    EXPECT_EQ(hardware.sequencer.registers, 64);
    EXPECT_EQ(hardware.dma.engines, 16);
    EXPECT_EQ(hardware.dma.queues_per_engine, 16);
    EXPECT_EQ(hardware.dma.partitions_per_engine, 8);
    EXPECT_EQ(hardware.dma.descriptor_dimensions, 4);
  }
  EXPECT_EQ(HardwareFor(Target::kTrn2).tensor.moving_max, 512);
  EXPECT_EQ(HardwareFor(Target::kTrn3).tensor.moving_max, 4096);
  EXPECT_EQ(HardwareFor(Target::kTrn3).tensor.moving_max_bf16, 8192);
  EXPECT_EQ(HardwareFor(Target::kTrn1).dma.hwdge_units, 0);
  EXPECT_EQ(HardwareFor(Target::kTrn2).dma.hwdge_units, 2);
  EXPECT_EQ(HardwareFor(Target::kTrn1).dma.sustained_rate, 17);
  EXPECT_EQ(HardwareFor(Target::kTrn3).dma.peak_rate, 38.4);
}

TEST(HardwareTest, AddsFeaturesWithTheGenerations) {
  const Features& trn1 = HardwareFor(Target::kTrn1).features;
  const Features& trn2 = HardwareFor(Target::kTrn2).features;
  const Features& trn3 = HardwareFor(Target::kTrn3).features;
  EXPECT_FALSE(trn1.fp8_double_row);
  EXPECT_TRUE(trn2.fp8_double_row);
  EXPECT_FALSE(trn1.activation_bias_immediate);
  EXPECT_TRUE(trn2.activation_bias_immediate);
  EXPECT_FALSE(trn2.abs_max_min);
  EXPECT_TRUE(trn3.abs_max_min);
  EXPECT_FALSE(trn2.bf16_psum);
  EXPECT_TRUE(trn3.bf16_psum);
  EXPECT_FALSE(trn1.lnc2);
  EXPECT_TRUE(trn2.lnc2);
}

TEST(HardwareTest, EveryConstantHasASourceAStatusAndAUnit) {
  for (Target target : kTargets) {
    const auto constants = ListConstants(HardwareFor(target));
    EXPECT_GT(constants.size(), 150u);
    std::set<std::string> paths;
    for (const ConstantInfo& constant : constants) {
      EXPECT_FALSE(constant.source.empty()) << constant.path;
      EXPECT_NE(constant.status, ConstantStatus::kUnset) << constant.path;
      EXPECT_FALSE(constant.unit.empty()) << constant.path;
      EXPECT_TRUE(paths.insert(constant.path).second) << constant.path;
    }
    EXPECT_EQ(paths.count("memory.psum_banks"), 1u);
    EXPECT_EQ(paths.count("law[TensorCopy vector any].fixed"), 1u);
    EXPECT_EQ(paths.count("dma.load.notify"), 1u);
    EXPECT_EQ(paths.count("features.lnc2"), 1u);
  }
}

TEST(HardwareTest, CostsEveryOpcodeOnEachOfItsEngines) {
  for (Target target : kTargets) {
    for (const OpcodeInfo& info : Opcodes()) {
      if (info.dma) continue;  // costed by the DMA laws
      for (Engine engine : kSequencers) {
        if ((info.engines & Bit(engine)) == 0) continue;
        EXPECT_FALSE(LawsFor(HardwareFor(target), info.name, engine).empty())
            << info.name << " on " << Name(engine);
      }
    }
  }
}

TEST(CostLawTest, GivesWhatWasMeasuredOnTrn2) {
  constexpr Target kTrn2 = Target::kTrn2;
  constexpr Engine kVector = Engine::kVector;
  EXPECT_THAT(Completion(Law(kTrn2, "TensorCopy", kVector), 512),
              DoubleNear(427, 2));
  EXPECT_THAT(Completion(Law(kTrn2, "TensorTensor", kVector), 1000),
              DoubleNear(1200, 1));
  EXPECT_THAT(Completion(Law(kTrn2, "TensorScalar", kVector), 16384),
              DoubleNear(8693, 1));
  EXPECT_THAT(Completion(Law(kTrn2, "TensorReduce", kVector,
                             Fact(CostCondition::kSource16Bit)),
                         16384),
              DoubleNear(17248, 1));
  EXPECT_THAT(Completion(Law(kTrn2, "Activate", Engine::kScalar), 4096),
              DoubleNear(3707, 1));
  for (const auto& [n, ns] : {std::pair(128, 297), std::pair(512, 617),
                              std::pair(2048, 1897), std::pair(8192, 7017)}) {
    EXPECT_THAT(Completion(Law(kTrn2, "TensorCopy", Engine::kScalar), n),
                DoubleNear(ns, 1));
  }
  EXPECT_EQ(Completion(Law(kTrn2, "LoadActivationTable", Engine::kScalar), 0),
            1283);
}

TEST(CostLawTest, StreamsMatmulsAtTheMeasuredIntervals) {
  const CostLaw& fp32 = Law(Target::kTrn2, "MultiplyMoving", Engine::kTensor,
                            Fact(CostCondition::kMatmulFp32));
  EXPECT_THAT(2 * Issue(fp32, 128), DoubleNear(223, 1));
  EXPECT_THAT(2 * Issue(fp32, 512), DoubleNear(860, 4));
  EXPECT_THAT(Issue(fp32, 456), DoubleNear(383.7, 2));
  const CostLaw& narrow = Law(Target::kTrn2, "MultiplyMoving", Engine::kTensor);
  EXPECT_THAT(Issue(narrow, 456), DoubleNear(193.3, 0.1));
}

TEST(CostLawTest, IssuesBeforeTheDrainIsOver) {
  // Back to back 1.555 N at N = 128; a law that has no interval of its own
  // takes its engine's drain.
  const CostLaw& copy = Law(Target::kTrn2, "TensorCopy", Engine::kScalar);
  EXPECT_THAT(Issue(copy, 128), DoubleNear(1.555 * 128, 0.1));
  const CostLaw& exp = Law(Target::kTrn2, "Activate", Engine::kScalar);
  EXPECT_THAT(Completion(exp, 128) - Issue(exp, 128), DoubleNear(93.8, 1e-9));
  const CostLaw& read = Law(Target::kTrn2, "ReadAccumulator", Engine::kScalar);
  EXPECT_EQ(Issue(read, 1), 185);
  EXPECT_EQ(Completion(read, 1), 279);
}

TEST(CostLawTest, ChargesForEachTensorOperandOfAnActivation) {
  const CostLaw& copy = Law(Target::kTrn2, "Activate", Engine::kScalar, 0,
                            Member(ActFunction::kCopy));
  EXPECT_THAT(Completion(copy, 0, 2) - Completion(copy, 0, 0),
              DoubleNear(182, 1e-9));
  const CostLaw& exp = Law(Target::kTrn2, "Activate", Engine::kScalar);
  EXPECT_EQ(Completion(exp, 0, 1), Completion(exp, 0, 0));
  EXPECT_THAT(Completion(exp, 0, 2) - Completion(exp, 0, 1),
              DoubleNear(91, 1e-9));
}

TEST(CostLawTest, GivesTheDocumentedCyclesOnTrn1) {
  const CostLaw& sum = Law(Target::kTrn1, "TensorTensor", Engine::kVector);
  EXPECT_THAT(Issue(sum, 8192), DoubleNear(2 * 8192 / 1.12, 1e-6));
  EXPECT_THAT(Completion(sum, 8192), DoubleNear(14987, 10));
  EXPECT_THAT(Issue(sum, 1), DoubleNear(64 / 1.12, 1e-9));
  const CostLaw& fast =
      Law(Target::kTrn1, "TensorTensor", Engine::kVector,
          Fact(CostCondition::kFastAlu) | Fact(CostCondition::kAll16BitSbuf) |
              Fact(CostCondition::kContiguous));
  EXPECT_THAT(Issue(fast, 8192), DoubleNear(8192 / 1.12, 1e-6));
  const CostLaw& activate = Law(Target::kTrn1, "Activate", Engine::kScalar);
  EXPECT_THAT(Completion(activate, 1), DoubleNear(159, 0.1));
  const CostLaw& iota = Law(Target::kTrn1, "Iota", Engine::kGpsimd);
  EXPECT_THAT(Issue(iota, 512), DoubleNear((150 + 512) / 1.4, 1e-6));
}

TEST(CostLawTest, ScalesTheVectorEngineOfTrn3ByItsClock) {
  const CostLaw& trn2 = Law(Target::kTrn2, "TensorTensor", Engine::kVector);
  const CostLaw& trn3 = Law(Target::kTrn3, "TensorTensor", Engine::kVector);
  EXPECT_THAT(Completion(trn3, 512),
              DoubleNear(Completion(trn2, 512) * 0.96 / 1.2, 0.01));
}

TEST(CostLawTest, PicksTheFirstRowAllOfWhoseConditionsHold) {
  const auto rows =
      LawsFor(HardwareFor(Target::kTrn2), "TensorCopy", Engine::kVector);
  const CostFacts narrow =
      Fact(CostCondition::kSource16Bit) | Fact(CostCondition::kAll16BitSbuf);
  const CostFacts packed = narrow | Fact(CostCondition::kContiguous);
  // 4 elements a cycle of 16 bits that lie side by side, 2 of others.
  EXPECT_THAT(FindLaw(rows, packed)->completion_per_element_ns,
              DoubleNear(1 / 0.96 / 4, 0.01));
  EXPECT_THAT(FindLaw(rows, narrow)->completion_per_element_ns,
              DoubleNear(1 / 0.96 / 2, 0.01));
  EXPECT_EQ(FindLaw(rows, Fact(CostCondition::kSource16Bit))->when,
            Fact(CostCondition::kSource16Bit));
  EXPECT_TRUE(FindLaw(rows, 0)->unconditional());
  EXPECT_EQ(FindLaw(HardwareFor(Target::kTrn2), "Nope", Engine::kVector, 0),
            nullptr);
  EXPECT_NE(FindLaw(HardwareFor(Target::kTrn2), "Nop", Engine::kSync, 0),
            nullptr);
}

TEST(CostLawTest, PicksTheRowOfTheActivationFunction) {
  const auto fixed = [](ActFunction function) {
    return Law(Target::kTrn2, "Activate", Engine::kScalar, 0, Member(function))
        .completion_fixed_ns;
  };
  EXPECT_EQ(fixed(ActFunction::kExp), 293.4);
  EXPECT_EQ(fixed(ActFunction::kLog), 285.7);
  EXPECT_EQ(fixed(ActFunction::kSquare), 286.2);
  EXPECT_EQ(fixed(ActFunction::kCopy), 202);
}

TEST(ActivationTableTest, IsNeededByExpButNotByCopy) {
  const Hardware& hardware = HardwareFor(Target::kTrn2);
  const auto table = [&](ActFunction function) {
    return hardware.activation_table[static_cast<size_t>(function)];
  };
  EXPECT_EQ(table(ActFunction::kCopy), 0);
  EXPECT_EQ(table(ActFunction::kRelu), 0);
  EXPECT_NE(table(ActFunction::kExp), 0);
  EXPECT_NE(table(ActFunction::kExp), table(ActFunction::kTanh));
  // The vendor's page on NEFF files names a set natural_log_exp_and_others.
  EXPECT_EQ(table(ActFunction::kExp), table(ActFunction::kLog));
  EXPECT_EQ(hardware.activation_table_names[table(ActFunction::kExp)],
            "natural_log_exp");
}

TEST(DmaLawTest, GivesTheMeasuredLoadOnTrn2) {
  const DmaLaw& load = HardwareFor(Target::kTrn2).dma_law(DmaDirection::kLoad);
  EXPECT_EQ(load.spacing_ns, 599);
  EXPECT_EQ(load.start_ns, 751);
  EXPECT_EQ(load.notify_ns, 314.5);
  // 128 partitions of 512 fp32 elements: 16 KiB on each of 16 engines.
  EXPECT_THAT(load.payload_fixed_ns + 16384 * load.payload_ns_per_byte,
              DoubleNear(293 + 1.305 * 262144 / 368, 0.1));
}

TEST(LoadHardwareTest, RefusesAnUnknownFieldByItsPath) {
  EXPECT_THAT(Refusal(Trn2With("psum_banks {", "psum_bankz {")),
              HasSubstr("at memory.psum_bankz: "));
  EXPECT_THAT(
      Refusal(Trn2With("partitions { value: 128", "partitions { valu: 128")),
      HasSubstr("at memory.partitions.valu: "));
}

TEST(LoadHardwareTest, RefusesAnUnknownStatusByItsPath) {
  EXPECT_THAT(Refusal(Trn2With("value: 8 unit: \"banks\" status: DOCUMENTED",
                               "value: 8 unit: \"banks\" status: GUESSED")),
              HasSubstr("at memory.psum_banks.status: "));
}

TEST(LoadHardwareTest, RefusesWhatIsNotTextFormat) {
  EXPECT_THAT(Refusal("memory {"), HasSubstr("line 1"));
  EXPECT_THAT(Refusal(""), HasSubstr("name is missing"));
}

TEST(LoadHardwareTest, RefusesAMissingConstantByItsPath) {
  const std::string text = TextOf("trn2");
  const size_t start = text.find("  psum_banks {");
  const size_t end = text.find("  psum_bank_bytes {");
  EXPECT_THAT(Refusal(text.substr(0, start) + text.substr(end)),
              HasSubstr("memory.psum_banks is missing"));
  EXPECT_THAT(Refusal(text.substr(0, text.find("\ndma {")) +
                      text.substr(text.find("\nfeatures {"))),
              HasSubstr("dma is missing"));
}

TEST(LoadHardwareTest, RefusesAConstantWithoutValueSourceOrStatus) {
  EXPECT_THAT(
      Refusal(Trn2With("psum_banks { value: 8 unit", "psum_banks { unit")),
      HasSubstr("memory.psum_banks.value is missing"));
  EXPECT_THAT(Refusal(Trn2With("value: 8 unit: \"banks\" status: DOCUMENTED",
                               "value: 8 unit: \"banks\"")),
              HasSubstr("memory.psum_banks.status is missing"));
  const std::string text = TextOf("trn2");
  const size_t banks = text.find("psum_banks {");
  const size_t source = text.find("source:", banks);
  const size_t note = text.find("note:", banks);
  EXPECT_THAT(Refusal(text.substr(0, source) + text.substr(note)),
              HasSubstr("memory.psum_banks.source is missing"));
}

TEST(LoadHardwareTest, RefusesAUnitOtherThanTheFields) {
  EXPECT_THAT(
      Refusal(Trn2With("value: 8 unit: \"banks\"", "value: 8 unit: \"bytes\"")),
      HasSubstr("memory.psum_banks.unit is \"bytes\"; it must be "
                "banks"));
}

TEST(LoadHardwareTest, RefusesValuesThatMakeNoSense) {
  EXPECT_THAT(Refusal(Trn2With("value: 8 unit: \"banks\"",
                               "value: 7.5 unit: \"banks\"")),
              HasSubstr("must be a whole number"));
  EXPECT_THAT(Refusal(Trn2With("value: 8 unit: \"banks\"",
                               "value: -8 unit: \"banks\"")),
              HasSubstr("must not be negative"));
  EXPECT_THAT(Refusal(Trn2With("value: 8 unit: \"banks\"",
                               "value: nan unit: \"banks\"")),
              HasSubstr("out of range"));
  EXPECT_THAT(
      Refusal(Trn2With("value: 8 unit: \"banks\"", "value: 7 unit: \"banks\"")),
      HasSubstr("memory.psum_partition_bytes"));
  EXPECT_THAT(Refusal(Trn2With("clock { value: 2.4", "clock { value: 0")),
              HasSubstr("engines.tensor.clock"));
}

TEST(LoadHardwareTest, RefusesLawsThatLeaveAnOpcodeWithoutOne) {
  EXPECT_THAT(Refusal(Trn2With("opcode: \"Iota\"", "opcode: \"Iotta\"")),
              HasSubstr("law[Iotta].opcode names no opcode"));
  EXPECT_THAT(Refusal(Trn2With("opcode: \"Reciprocal\" engine: VECTOR",
                               "opcode: \"Reciprocal\" engine: GPSIMD")),
              HasSubstr("law[Reciprocal vector any] is missing"));
}

TEST(LoadHardwareTest, TakesAChangedConstant) {
  const auto hardware = LoadHardware(
      Trn2With("hbm_bandwidth { value: 3000", "hbm_bandwidth { value: 6000"));
  ASSERT_TRUE(hardware.ok()) << hardware.status();
  EXPECT_EQ(hardware->memory.hbm_stack_bandwidth, 1500);
}

TEST(LoadHardwareTest, ReadsATimeInCyclesOfItsEngine) {
  const auto hardware = LoadHardware(Trn2With(
      "drain { value: 140 unit: \"ns\"", "drain { value: 96 unit: \"cycles\""));
  ASSERT_TRUE(hardware.ok()) << hardware.status();
  EXPECT_DOUBLE_EQ(hardware->engine(Engine::kVector).drain_ns, 100);
}

}  // namespace
}  // namespace trnemu
