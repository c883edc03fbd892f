#include "isa/verify.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/passes/capacity.h"
#include "isa/passes/memory_map.h"
#include "isa/passes/registers.h"

namespace trnemu {
namespace {

class Verifier {
 public:
  Verifier(const Program& program, const Hardware& hardware,
           const VerifyOptions& options)
      : program_(program), hardware_(hardware), options_(options) {}

  std::vector<Diagnostic> Run() {
    CheckCores();
    CheckTensors();
    CheckSemaphores();
    // Operands of tensors that are wrong themselves would only repeat that. A
    // finding that --allow lifts must not hide others.
    for (const Diagnostic& d : findings_) {
      if (!IsAllowed(d, {&d.id, 1})) return std::move(findings_);
    }
    for (size_t c = 0; c < program_.cores.size(); ++c) {
      for (Engine engine : kSequencers) CheckStream(c, engine);
    }
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Diagnostic& a, const Diagnostic& b) {
                       return std::pair(a.core, a.instruction) <
                              std::pair(b.core, b.instruction);
                     });
    return std::move(findings_);
  }

 private:
  void Add(Diagnostic d) {
    const auto key = std::pair(absl::StrCat(d.id, " ", d.operand),
                               d.source.empty() ? d.message : d.source);
    const auto [it, inserted] = seen_.emplace(key, findings_.size());
    if (!inserted) {
      ++findings_[it->second].count;
      return;
    }
    if (options_.max_findings > 0 &&
        findings_.size() >= static_cast<size_t>(options_.max_findings)) {
      seen_.erase(it);
      return;
    }
    findings_.push_back(std::move(d));
  }

  Diagnostic Finding(Category category, std::string id, std::string message) {
    Diagnostic d;
    d.category = category;
    d.id = std::move(id);
    d.message = std::move(message);
    d.details.emplace_back("target", hardware_.name);
    return d;
  }

  void CheckCores();
  void CheckTensors();
  void CheckTile(const Tensor& tensor);
  void CheckStream(size_t core, Engine engine);
  void CheckSemaphores();
  void CheckWaits(size_t core, const Instruction& instruction);
  void CheckSignals(size_t core, const Instruction& instruction);
  void CheckRegisterCount(size_t core, Engine engine);
  bool CheckOperands(size_t core, const Instruction& instruction);
  bool CheckPlace(size_t core, Engine engine, const Instruction& instruction);
  absl::Status CheckInside(const Access& access, const Indirection* i) const;
  absl::Status CheckPlaceOf(size_t core, const Access& access) const;
  void Locate(Diagnostic& d, size_t core, const Instruction& instruction) const;

  const Program& program_;
  const Hardware& hardware_;
  const VerifyOptions& options_;
  bool described_ = false;  // the neighbours of a tile that does not fit
  std::vector<Diagnostic> findings_;
  std::map<std::pair<std::string, std::string>, size_t> seen_;
  Call call_;
  std::vector<Diagnostic> broken_;
};

void Verifier::CheckCores() {
  const size_t cores = program_.cores.size();
  if (cores != 1 && cores != 2) {
    Add(Finding(Category::kIllegal, "program.cores",
                absl::StrCat("a program runs on one or two physical cores, but "
                             "this one has ",
                             cores)));
  } else if (cores == 2 && !hardware_.features.lnc2) {
    Add(Finding(Category::kIllegal, "program.logical_core",
                absl::StrCat(hardware_.name,
                             " cannot join two cores to one "
                             "logical core; the program has two")));
  }
}

void Verifier::CheckTensors() {
  // The cores of a logical core share their HBM.
  const int64_t limit = hardware_.memory.hbm_bytes_per_core *
                        static_cast<int64_t>(program_.cores.size());
  int64_t hbm = 0;
  for (const Tensor& t : program_.tensors) {
    if (t.on_chip()) {
      CheckTile(t);
      continue;
    }
    const int64_t bytes = t.nbytes();
    hbm = bytes > INT64_MAX - hbm ? INT64_MAX : hbm + bytes;
    if (hbm <= limit) continue;
    Diagnostic d =
        Finding(Category::kCapacity, "capacity.hbm",
                absl::StrCat("tensor ", t.name, " of ", bytes,
                             " bytes brings the "
                             "program to ",
                             hbm, " bytes of HBM; ", program_.cores.size(),
                             " core(s) of ", hardware_.name, " have ", limit));
    d.source = program_.DescribeSource(t.source);
    d.remedy = "split the tensor, or spread the program over more cores";
    Add(std::move(d));
    return;
  }
}

void Verifier::CheckTile(const Tensor& t) {
  const bool sbuf = t.kind == TensorKind::kSbuf;
  const MemoryLimits& m = hardware_.memory;
  const Limit usable = LimitOf(t.space(), program_, hardware_);
  const int64_t limit = usable.bytes;
  const int64_t bytes = t.bytes_per_partition();
  const int64_t partitions = t.shape.empty() ? 0 : t.shape[0];
  Diagnostic d;
  if (partitions < 1 || partitions + t.start_partition > m.partitions) {
    d = Finding(
        Category::kIllegal, "tile.partitions",
        absl::StrCat("tile ", t.name, " covers partitions ", t.start_partition,
                     " to ", t.start_partition + partitions - 1, "; there are ",
                     m.partitions));
  } else if (bytes > limit ||
             t.byte_address > static_cast<uint64_t>(limit - bytes)) {
    d = Finding(
        Category::kCapacity, sbuf ? "capacity.sbuf" : "capacity.psum",
        absl::StrCat("tile ", t.name, " needs ", bytes,
                     " bytes per partition at byte ", t.byte_address, "; ",
                     hardware_.name, " has ", limit, " usable bytes in ",
                     std::string(Name(t.space()))));
    DescribeLimit(hardware_, usable, d);
    // Once: it looks at the whole program.
    if (!std::exchange(described_, true)) {
      DescribeNeighbours(program_, usable,
                         static_cast<uint32_t>(&t - program_.tensors.data()),
                         d);
    }
  } else {
    const uint64_t align =
        sbuf ? SizeOf(t.dtype) : std::max<uint64_t>(4, SizeOf(t.dtype));
    if (t.byte_address % align == 0) return;
    d = Finding(
        Category::kIllegal,
        sbuf ? "tile.sbuf_alignment" : "tile.psum_alignment",
        absl::StrCat("tile ", t.name, " (", std::string(Name(t.dtype)),
                     ") starts at byte ", t.byte_address, " of its partition; ",
                     std::string(Name(t.space())),
                     " tiles of this dtype start "
                     "at multiples of ",
                     align));
    d.remedy = absl::StrCat("place it at byte ",
                            t.byte_address / align * align + align);
  }
  d.source = program_.DescribeSource(t.source);
  Add(std::move(d));
}

void Verifier::Locate(Diagnostic& d, size_t core, const Instruction& i) const {
  d.instruction = i.order;
  d.core = static_cast<int>(core);
  d.opcode = Info(i.opcode).name;
  d.engine = Name(i.engine);
  if (d.operation.empty()) d.operation = program_.operations[i.operation];
  d.source = program_.DescribeSource(i.source);
}

// OK if the operand is inside its tensor wherever a run moves it. The details
// say which element is not, and the limit.
absl::Status Verifier::CheckInside(const Access& a,
                                   const Indirection* i) const {
  const Tensor& t = program_.tensors[a.tensor];
  const bool fits =
      a.space == t.space() && (i == nullptr || MisfitOf(a, *i).empty());
  absl::Status bounds;
  if (fits) {
    const int64_t bytes = a.on_chip() ? t.bytes_per_partition() : t.nbytes();
    bounds = CheckBounds(a, bytes / static_cast<int64_t>(SizeOf(a.dtype)),
                         a.on_chip() ? t.shape[0] : 0, t.name, i);
    if (bounds.ok()) return bounds;
  }
  Diagnostic d;
  d.message = absl::StrCat(Describe(a), " reaches outside tensor ", t.name,
                           " of shape ", DescribeShape(t.shape), " ",
                           std::string(Name(t.dtype)));
  if (!fits) return ToStatus(std::move(d));
  d.details = DiagnosticOf(bounds).details;  // axis, index, limit
  if (d.details.size() == 3) {
    absl::StrAppend(&d.message, ": ", d.details[0].second, " ",
                    d.details[1].second, " is outside 0 to ",
                    std::stoll(d.details[2].second) - 1);
  }
  return ToStatus(std::move(d));
}

// OK if the operand, wherever a run moves it, and its index are inside their
// tensors, of this core.
absl::Status Verifier::CheckPlaceOf(size_t core, const Access& access) const {
  const Indirection* i = program_.cores[core].IndirectionOf(access);
  const Tensor& t = program_.tensors[access.tensor];
  absl::Status status = CheckInside(access, i);
  if (!status.ok()) return status;
  if (t.on_chip() && t.core != core) {
    return MakeFault(
        Category::kOutOfBounds, "access.out_of_bounds",
        absl::StrCat("tile ", t.name, " belongs to core ", t.core));
  }
  if (i == nullptr || !i->has_index()) return status;
  status = CheckPlaceOf(core, i->index);
  if (status.ok()) return status;
  Diagnostic d = DiagnosticOf(status);
  d.message = "its index: " + d.message;
  return ToStatus(std::move(d));
}

bool Verifier::CheckOperands(size_t core, const Instruction& i) {
  const auto operands = program_.cores[core].OperandsOf(i);
  for (size_t o = 0; o < operands.size(); ++o) {
    const OperandSpec& spec = Info(i.opcode).operands[o];
    const Operand& operand = operands[o];
    if (operand.kind != Operand::Kind::kAccess) continue;
    const absl::Status place = CheckPlaceOf(core, operand.access);
    if (place.ok()) continue;
    const Diagnostic what = DiagnosticOf(place);
    Diagnostic d = Finding(
        Category::kOutOfBounds, "access.out_of_bounds",
        absl::StrCat("operand ", std::string(spec.name), ": ", what.message));
    d.details = what.details;
    d.operand = spec.name;
    Locate(d, core, i);
    Add(std::move(d));
    return false;
  }
  return true;
}

bool Verifier::CheckPlace(size_t core, Engine engine, const Instruction& i) {
  std::string what;
  if (!(Info(i.opcode).engines & Bit(engine))) {
    what =
        absl::StrCat(std::string(Info(i.opcode).name), " does not run on the ",
                     std::string(Name(engine)), " engine");
  } else if (Info(i.opcode).dma) {
    const uint64_t set =
        static_cast<uint64_t>(program_.cores[core]
                                  .AttributesOf(i)[slot::DmaCopy::kQueueSet]
                                  .integer());
    const QueueSet& q = program_.queue_sets[set];
    if (q.core != core || q.owner != engine) {
      what =
          absl::StrCat("queue set ", set, " belongs to the ",
                       std::string(Name(q.owner)), " engine of core ", q.core);
    }
  }
  if (what.empty()) return true;
  Diagnostic d = Finding(Category::kIllegal, "opcode.engine", what);
  Locate(d, core, i);
  Add(std::move(d));
  return false;
}

void Verifier::CheckSemaphores() {
  const int64_t limit = hardware_.sequencer.semaphores;
  for (size_t core = 0; core < program_.cores.size(); ++core) {
    const int64_t used = std::count_if(
        program_.semaphores.begin(), program_.semaphores.end(),
        [core](const SemaphoreInfo& s) { return s.core == core; });
    if (used <= limit) continue;
    Diagnostic d =
        Finding(Category::kLimit, "semaphore.count",
                absl::StrCat("core ", core, " has ", used, " semaphores; ",
                             hardware_.name, " has ", limit));
    d.remedy = "use a semaphore again once its last wait has passed";
    Add(std::move(d));
  }
}

void Verifier::CheckWaits(size_t core, const Instruction& i) {
  const int64_t limit = hardware_.sequencer.semaphore_max;
  const auto waits = program_.cores[core].WaitsOf(i);
  for (size_t w = 0; w < waits.size(); ++w) {
    const std::string& name = program_.semaphores[waits[w].semaphore].name;
    std::string what;
    if (waits[w].is_register) {
      // Known when it runs.
    } else if (waits[w].value < 0 || waits[w].value > limit) {
      what = absl::StrCat("a wait for semaphore ", name, " >= ", waits[w].value,
                          "; semaphores are 0 to ", limit);
    }
    for (size_t other = 0; other < w; ++other) {
      if (waits[other].semaphore == waits[w].semaphore &&
          (waits[other].consume || waits[w].consume)) {
        what = absl::StrCat("two waits for semaphore ", name,
                            " of which one consumes it");
      }
    }
    if (what.empty()) continue;
    Diagnostic d = Finding(Category::kIllegal, "semaphore.wait", what);
    Locate(d, core, i);
    Add(std::move(d));
  }
}

void Verifier::CheckSignals(size_t core, const Instruction& i) {
  const int64_t limit = hardware_.sequencer.semaphore_max;
  for (const Signal& s : program_.cores[core].SignalsOf(i)) {
    if (s.is_register || (s.value >= 0 && s.value <= limit)) continue;
    Diagnostic d =
        Finding(Category::kIllegal, "semaphore.signal",
                absl::StrCat("a signal of semaphore ",
                             program_.semaphores[s.semaphore].name, " by ",
                             s.value, "; semaphores are 0 to ", limit));
    d.remedy = "use sub to count down";
    Locate(d, core, i);
    Add(std::move(d));
  }
}

void Verifier::CheckRegisterCount(size_t core, Engine engine) {
  std::set<uint32_t> used;
  const CoreProgram& pools = program_.cores[core];
  for (const Instruction& i : pools.stream(engine)) {
    const uint32_t written = WrittenRegister(pools, i);
    if (written != kNoRegister) used.insert(written);
  }
  const int64_t limit = hardware_.sequencer.registers;
  if (static_cast<int64_t>(used.size()) <= limit) return;
  Diagnostic d = Finding(
      Category::kLimit, "register.count",
      absl::StrCat("the ", std::string(Name(engine)), " engine of core ", core,
                   " needs ", used.size(), " registers; a sequencer of ",
                   hardware_.name, " has ", limit));
  d.remedy = "use registers again, or fewer loops with counters of their own";
  Add(std::move(d));
}

void Verifier::CheckStream(size_t core, Engine engine) {
  const auto& stream = program_.cores[core].stream(engine);
  CheckRegisterCount(core, engine);
  std::vector<const Instruction*> group;
  for (size_t at = 0; at < stream.size();) {
    group.clear();
    bool sound = true;
    do {
      const Instruction& i = stream[at++];
      if (i.num_waits > 0) CheckWaits(core, i);
      if (i.num_signals > 0) CheckSignals(core, i);
      sound = CheckPlace(core, engine, i) && CheckOperands(core, i) && sound;
      group.push_back(&i);
    } while (at < stream.size() && stream[at].step != 0);
    if (!sound) continue;
    const Expansion expansion{&program_.cores[core], group};
    const absl::Status lifted = Lift(program_, hardware_, expansion, call_);
    if (!lifted.ok()) {
      Diagnostic d = DiagnosticOf(lifted);
      Locate(d, core, *group[0]);
      Add(std::move(d));
      continue;
    }
    broken_.clear();
    CheckCall(call_, options_.layers, broken_);
    for (Diagnostic& d : broken_) {
      Locate(d, core, *group[0]);
      Add(std::move(d));
    }
  }
}

}  // namespace

std::vector<Diagnostic> VerifyProgram(const Program& program,
                                      const Hardware& hardware,
                                      const VerifyOptions& options) {
  return Verifier(program, hardware, options).Run();
}

bool IsAllowed(const Diagnostic& finding, std::span<const std::string> allow) {
  const Rule* rule = FindRule(finding.id);
  if (rule != nullptr && rule->structural) return false;
  // What protects memory itself cannot be lifted either.
  if (finding.category == Category::kMalformed ||
      finding.category == Category::kCapacity ||
      finding.category == Category::kOutOfBounds ||
      finding.category == Category::kInternal ||
      finding.id == "tile.partitions" || finding.id == "opcode.engine" ||
      finding.id == "program.cores" || finding.id == "program.target") {
    return false;
  }
  return std::find(allow.begin(), allow.end(), finding.id) != allow.end();
}

}  // namespace trnemu
