// Device, Executable and what a run gives. The GIL is released while a program
// is loaded and while it runs.
#include "core/device.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/envelope.h"
#include "core/explore.h"
#include "core/host_memory.h"
#include "frontend/bindings/bindings.h"
#include "frontend/bindings/running.h"

namespace trnemu::bindings {
namespace {

template <typename Enum>
Enum OneOf(std::initializer_list<std::pair<std::string_view, Enum>> names,
           const std::string& name, std::string_view what) {
  std::string list;
  for (const auto& [known, value] : names) {
    if (known == name) return value;
    absl::StrAppend(&list, list.empty() ? "" : ", ", std::string(known));
  }
  RaiseValueError(absl::StrCat(std::string(what), " must be one of ", list,
                               ", not \"", name, "\""));
}

using OutputBytes =
    nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void ReadNumerics(const std::map<std::string, std::string>& given,
                  NumericsOptions& numerics) {
  for (const auto& [key, value] : given) {
    const std::string wrong = SetNumericsOption(numerics, key, value);
    if (!wrong.empty()) {
      RaiseHere(Category::kInput, "option.numerics", wrong);
    }
  }
}

}  // namespace

RunOptions ReadOptions(const nb::dict& given) {
  RunOptions o;
  o.checks = OneOf<Checks>({{"full", Checks::kFull},
                            {"memory", Checks::kMemory},
                            {"off", Checks::kOff}},
                           nb::cast<std::string>(given["checks"]), "checks");
  o.order = OneOf<Order>({{"timed", Order::kTimed},
                          {"program", Order::kProgram},
                          {"random", Order::kRandom}},
                         nb::cast<std::string>(given["schedule"]), "schedule");
  o.schedule_seed = nb::cast<uint64_t>(given["schedule_seed"]);
  o.time = nb::cast<bool>(given["time"]);
  o.values = nb::cast<bool>(given["values"]);
  o.throttle = nb::cast<bool>(given["throttle"]);
  o.launch_overhead = nb::cast<bool>(given["launch_overhead"]);
  o.strict = nb::cast<bool>(given["strict"]);
  o.stop_at_nan = nb::cast<bool>(given["stop_at_nan"]);
  o.allow = nb::cast<std::vector<std::string>>(given["allow"]);
  ReadNumerics(nb::cast<std::map<std::string, std::string>>(given["numerics"]),
               o.numerics);
  o.seed = nb::cast<uint64_t>(given["seed"]);
  if (!given["max_instructions"].is_none()) {
    o.max_instructions = nb::cast<int64_t>(given["max_instructions"]);
  }
  if (!given["max_time_ns"].is_none()) {
    o.max_time_ns = nb::cast<double>(given["max_time_ns"]);
  }
  if (!given["max_wall_time"].is_none()) {
    o.max_wall_seconds = nb::cast<double>(given["max_wall_time"]);
  }
  if (!given["max_host_memory"].is_none()) {
    o.max_host_bytes = nb::cast<int64_t>(given["max_host_memory"]);
  }
  if (given.contains("into")) {
    for (auto [name, memory] : nb::cast<nb::dict>(given["into"])) {
      const auto bytes = nb::cast<OutputBytes>(memory);
      o.into[nb::cast<std::string>(name)] = {
          reinterpret_cast<std::byte*>(bytes.data()), bytes.size()};
    }
  }
  return o;
}

BoundResult ResultOf(const SharedDevice& device, RunResult result) {
  const Hardware& h = device.device->hardware();
  BoundResult bound{std::move(result), {}};
  if (&h != &HardwareFor(h.target))
    bound.hardware_changes = ChangesFromStock(h);
  return bound;
}

std::shared_ptr<const Hardware> ReadHardware(Target target,
                                             const std::string& text,
                                             const std::string& name) {
  if (text.empty()) return {};
  const std::string target_name(Name(target));
  absl::StatusOr<Hardware> loaded = LoadHardware(text);
  Diagnostic d;
  d.category = Category::kInput;
  d.id = "input.hardware";
  if (!loaded.ok()) {
    d.message = absl::StrCat(name, ": ", loaded.status().message());
    d.remedy = absl::StrCat("trnemu info --target ", target_name,
                            " --only description > FILE gives one to start "
                            "from");
    RaiseHere(ToStatus(std::move(d)));
  }
  if (loaded->target != target) {
    d.message =
        absl::StrCat(name, " describes ", std::string(Name(loaded->target)),
                     ", but the target is ", target_name);
    RaiseHere(ToStatus(std::move(d)));
  }
  return std::make_shared<const Hardware>(*std::move(loaded));
}

// Each input: (name, dtype name, shape, its bytes).
Inputs ReadInputs(const nb::list& given, std::vector<InputBytes>& keep) {
  Inputs inputs;
  for (nb::handle item : given) {
    const nb::tuple entry = nb::cast<nb::tuple>(item);
    keep.push_back(nb::cast<InputBytes>(entry[3]));
    const InputBytes& bytes = keep.back();
    InputArray& array = inputs[nb::cast<std::string>(entry[0])];
    array.dtype = ToDtype(entry[1]);
    array.shape = nb::cast<std::vector<int64_t>>(entry[2]);
    array.bytes = {reinterpret_cast<const std::byte*>(bytes.data()),
                   bytes.size()};
  }
  return inputs;
}

namespace {

BoundResult Run(BoundExecutable& self, const nb::list& given,
                const nb::dict& options) {
  RunOptions run = ReadOptions(options);
  std::vector<InputBytes> keep;
  const Inputs inputs = ReadInputs(given, keep);
  SignalCheck signals;
  run.interrupted = [&signals] { return signals(); };
  absl::StatusOr<RunResult> result;
  {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(self.shared->mutex);
    result = self.executable->Run(inputs, run);
  }
  signals.Rethrow();
  if (!result.ok()) Raise(result.status());
  return ResultOf(*self.shared, *std::move(result));
}

// The result in the timed order, once `schedules` seeds have given the same.
BoundResult Explore(BoundExecutable& self, const nb::list& given,
                    const nb::dict& options, int64_t schedules) {
  RunOptions run = ReadOptions(options);
  std::vector<InputBytes> keep;
  const Inputs inputs = ReadInputs(given, keep);
  SignalCheck signals;
  run.interrupted = [&signals] { return signals(); };
  absl::StatusOr<RunResult> result;
  {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(self.shared->mutex);
    result = trnemu::Explore(
        *self.executable, inputs, run, schedules,
        "trnemu.run(..., schedule=SEED, checks=\"memory\")", [](int64_t) {});
  }
  signals.Rethrow();
  if (!result.ok()) Raise(result.status());
  return ResultOf(*self.shared, *std::move(result));
}

// What the program gives as the options say, and the envelope as JSON.
nb::tuple Envelope(BoundExecutable& self, const nb::list& given,
                   const nb::dict& options, int64_t combinations,
                   uint64_t seed) {
  RunOptions base = ReadOptions(options);
  std::vector<InputBytes> keep;
  const Inputs inputs = ReadInputs(given, keep);
  SignalCheck signals;
  base.interrupted = [&signals] { return signals(); };
  absl::StatusOr<EnvelopeResult> result;
  {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(self.shared->mutex);
    result = RunEnvelope(
        [&](const RunOptions& run) {
          return self.executable->Run(inputs, run);
        },
        base, combinations, seed);
  }
  signals.Rethrow();
  if (!result.ok()) Raise(result.status());
  const std::string json = EnvelopeJson(*result);
  const std::string text = EnvelopeText(*result);
  return nb::make_tuple(ResultOf(*self.shared, std::move(result->base)), json,
                        text);
}

BoundExecutable Load(const std::shared_ptr<SharedDevice>& shared,
                     const BoundProgram& program,
                     const std::vector<std::string>& allow,
                     std::optional<int64_t> max_host_memory) {
  absl::StatusOr<std::unique_ptr<Executable>> executable;
  RunOptions limits;
  limits.max_host_bytes = max_host_memory;
  const absl::Status fits =
      CheckHostMemory(*program.program, shared->device->hardware(), limits);
  if (!fits.ok()) Raise(fits);
  {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(shared->mutex);
    executable = shared->device->Load(program.program, allow);
  }
  if (!executable.ok()) Raise(executable.status());
  return {shared, *std::move(executable)};
}

// [(name, dtype, shape, bytes), ...], the bytes without a copy.
nb::list Outputs(BoundResult& r) {
  nb::list outputs;
  for (auto& [name, array] : r.result.outputs) {
    auto* bytes = new std::vector<std::byte>(std::move(array.bytes));
    const nb::capsule owner(bytes, [](void* p) noexcept {
      delete static_cast<std::vector<std::byte>*>(p);
    });
    outputs.append(
        nb::make_tuple(nb::str(name.c_str(), name.size()),
                       FromDtype(array.dtype), FromShape(array.shape),
                       nb::cast(nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(
                           bytes->data(), {bytes->size()}, owner))));
  }
  return outputs;
}

template <typename Map>
nb::dict CountsOf(const Map& counts) {
  nb::dict dict;
  for (const auto& [name, count] : counts) dict[name.c_str()] = count;
  return dict;
}

nb::dict ProfileOf(const BoundResult& r) {
  const Profile& p = r.result.profile;
  const auto ns = [](Ticks t) { return static_cast<double>(t) / kTicksPerNs; };
  nb::dict engines;
  for (size_t e = 1; e < p.engines.size(); ++e) {
    const EngineProfile& engine = p.engines[e];
    nb::dict entry;
    entry["instructions"] = engine.instructions;
    entry["busy_ns"] = ns(engine.busy);
    entry["waiting_ns"] = ns(engine.waiting);
    engines[nb::str(kEngineNames[e].data(), kEngineNames[e].size())] = entry;
  }
  nb::dict profile;
  profile["time_ns"] = r.result.timed ? ns(p.end) : 0.0;
  profile["instructions"] = p.instructions;
  profile["engines"] = engines;
  profile["opcodes"] = CountsOf(p.opcodes);
  profile["operations"] = CountsOf(p.operations);
  profile["dma_bytes"] = p.dma_bytes;
  profile["hbm_read_bytes"] = p.hbm_read_bytes;
  profile["hbm_write_bytes"] = p.hbm_write_bytes;
  profile["matmul_flops"] = p.matmul_flops;
  return profile;
}

class BoundDevice {
 public:
  BoundDevice(const std::string& target, int cores, const std::string& hardware,
              const std::string& name)
      : shared_(std::make_shared<SharedDevice>()) {
    auto device =
        Device::Create(ToTarget(target), cores,
                       ReadHardware(ToTarget(target), hardware, name));
    if (!device.ok()) RaiseHere(device.status());
    shared_->device = *std::move(device);
  }
  BoundExecutable Load(const BoundProgram& program,
                       const std::vector<std::string>& allow,
                       std::optional<int64_t> max_host_memory) {
    return bindings::Load(shared_, program, allow, max_host_memory);
  }
  std::string target() const { return shared_->device->hardware().name; }
  int cores() const { return shared_->device->cores(); }

 private:
  std::shared_ptr<SharedDevice> shared_;
};

}  // namespace

void BindDevice(nb::module_& m) {
  BindDebugger(m);
  BindProfile(m);
  nb::class_<BoundResult>(m, "Result", "What trnemu.RunResult is made of.")
      .def_prop_ro("target",
                   [](const BoundResult& r) { return r.result.target; })
      .def_prop_ro("time_ns",
                   [](const BoundResult& r) { return r.result.time_ns; })
      .def_prop_ro("diagnostics",
                   [](const BoundResult& r) { return r.result.diagnostics; })
      .def_prop_ro("allowed",
                   [](const BoundResult& r) { return r.result.allowed; })
      .def_prop_ro("profile", &ProfileOf,
                   nb::sig("def profile(self) -> dict[str, typing.Any]"))
      .def_prop_ro("timed", [](const BoundResult& r) { return r.result.timed; })
      .def("summary",
           [](const BoundResult& r) {
             std::string text = Summary(r.result);
             if (r.hardware_changes.empty()) return text;
             absl::StrAppend(&text, "\nhardware      ",
                             ChangesText(r.hardware_changes, 14));
             text.pop_back();
             return text;
           })
      .def("take_outputs", &Outputs,
           nb::sig("def take_outputs(self) -> list[tuple[str, "
                   "trnemu._dtype.Dtype, tuple[int, ...], typing.Any]]"));
  nb::class_<BoundExecutable>(m, "Executable",
                              "What trnemu.Executable is made of.")
      .def("run", &Run,
           nb::sig("def run(self, inputs: list[tuple[str, str, "
                   "tuple[int, ...], typing.Any]], options: dict[str, "
                   "typing.Any], /) "
                   "-> Result"))
      .def("explore", &Explore,
           nb::sig("def explore(self, inputs: list[tuple[str, str, "
                   "tuple[int, ...], typing.Any]], options: dict[str, "
                   "typing.Any], schedules: int, /) "
                   "-> Result"))
      .def("envelope", &Envelope,
           nb::sig("def envelope(self, inputs: list[tuple[str, str, "
                   "tuple[int, ...], typing.Any]], options: dict[str, "
                   "typing.Any], combinations: int, seed: int, /) "
                   "-> tuple[Result, str, str]"))
      .def("profile", &ProfileRun,
           nb::sig("def profile(self, inputs: list[tuple[str, str, "
                   "tuple[int, ...], typing.Any]], options: dict[str, "
                   "typing.Any], program: Program, name: str, "
                   "max_records: int, /) "
                   "-> tuple[Result, ProfileData]"))
      .def("debug", &Debug, nb::keep_alive<0, 1>(),
           nb::sig("def debug(self, inputs: list[tuple[str, str, "
                   "tuple[int, ...], typing.Any]], options: dict[str, "
                   "typing.Any], /) "
                   "-> Debugger"));
  nb::class_<BoundDevice>(m, "Device", "What trnemu.Device is made of.")
      .def(nb::init<const std::string&, int, const std::string&,
                    const std::string&>(),
           nb::arg("target"), nb::arg("cores"), nb::arg("hardware") = "",
           nb::arg("name") = "")
      .def_prop_ro("target", &BoundDevice::target)
      .def_prop_ro("cores", &BoundDevice::cores)
      .def("load", &BoundDevice::Load, nb::arg("program"), nb::arg("allow"),
           nb::arg("max_host_memory") = nb::none());
}

}  // namespace trnemu::bindings
