// ProgramBuilder, semaphores, waits and signals.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/bindings.h"
#include "frontend/bindings/sources.h"

namespace trnemu::bindings {
namespace {

using Bytes =
    nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What nki.isa's functions give: instructions of a kernel's builder.
struct BoundInstruction {
  nb::object builder;
  ProgramBuilder::Added added;
};

// The builder of isa/, which is not thread-safe. Calls hold the GIL, but for
// Build, while which others are refused.
class BoundBuilder {
 public:
  BoundBuilder(std::string_view target, std::string name, int cores,
               bool automatic)
      : serial_(next_serial_++),
        builder_(ToTarget(target), std::move(name), Checked(cores),
                 automatic ? ProgramBuilder::Sync::kAuto
                           : ProgramBuilder::Sync::kExplicit) {}

  // A copy that takes the original's views, to build the program so far.
  BoundBuilder(const BoundBuilder& other)
      : serial_(other.serial_), builder_(other.builder_), nki_(other.nki_) {}

  // Operations as nki.isa takes them, under the rules of its API too.
  void BecomeNki(bool api_rules) {
    nki_ = true;
    builder().EndCounters();
    builder().SetLayers(
        kDefaultLayers |
        (api_rules ? 1u << static_cast<unsigned>(Layer::kApi) : 0u));
  }
  void MakeOutput(const BoundView& view) {
    Own(view);
    builder().SetKind(view.view.tensor, TensorKind::kOutput);
  }
  void SettleInputs() { builder().SettleInputs(); }
  // Where a tile is pinned, with the view's own start; none for others.
  std::optional<std::pair<int64_t, int64_t>> AddressOf(
      const BoundView& v) const {
    const Tensor& t = Own(v);
    if (!t.pinned) return std::nullopt;
    return std::pair(
        int64_t{t.start_partition} + v.view.start_partition,
        static_cast<int64_t>(t.byte_address) +
            v.view.offset * static_cast<int64_t>(SizeOf(v.view.dtype)));
  }
  std::string KindOf(const BoundView& view) const {
    const Tensor& t = Own(view);
    return std::string(kTensorKindNames[static_cast<size_t>(t.kind)]);
  }
  int64_t CountInstructions() const { return builder_.CountInstructions(); }

  nb::object AddTensor(std::string_view kind, nb::handle name, nb::handle shape,
                       nb::handle dtype) {
    const TensorKind as = kind == "input"    ? TensorKind::kInput
                          : kind == "output" ? TensorKind::kOutput
                          : kind == "inout"  ? TensorKind::kInOut
                                             : TensorKind::kScratch;
    std::string text = ToString(name, "name");
    const std::vector<int64_t> extents = ToInts(shape, "shape");
    const Dtype type = ToDtype(dtype);
    return Wrap(
        builder().AddTensor(as, std::move(text), type, extents, Source("")));
  }

  nb::object AddConstant(nb::handle name, nb::handle shape, nb::handle dtype,
                         const Bytes& bytes) {
    std::string text = ToString(name, "name");
    const std::vector<int64_t> extents = ToInts(shape, "shape");
    const Dtype type = ToDtype(dtype);
    return Wrap(builder().AddConstant(
        std::move(text), type, extents,
        {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()},
        Source("")));
  }

  nb::object AddTile(bool psum, nb::handle shape, nb::handle dtype,
                     nb::handle name, nb::handle address) {
    const std::vector<int64_t> extents = ToInts(shape, "shape");
    const Dtype type = ToDtype(dtype);
    std::string text = ToString(name, "name");
    std::optional<TileAddress> at;
    if (!address.is_none()) {
      const std::vector<int64_t> pair = ToInts(address, "address");
      if (pair.size() != 2) {
        RaiseTypeError("address must be (start_partition, byte_in_partition)");
      }
      at = TileAddress{pair[0], pair[1]};
    }
    return Wrap(builder().AddTile(psum ? TensorKind::kPsum : TensorKind::kSbuf,
                                  std::move(text), type, extents, at,
                                  Source("")));
  }

  BoundSemaphore AddSemaphore(nb::handle name) {
    const uint32_t index = builder().AddSemaphore(ToString(name, "name"));
    return {index, builder_.program().semaphores[index].name, serial_};
  }

  BoundRegister AddRegister(nb::handle x) {
    const uint32_t number = builder().AddRegister();
    if (!x.is_none()) {
      const Value value = Value::Integer(ToInt(x, "x"));
      CallOptions options;
      options.source = Source("");
      const absl::Status ok = builder().Add(
          "register_alloc", {{"x", value}, {"dst[x]", Value::Register(number)}},
          options);
      if (!ok.ok()) RaiseHere(ok);
    }
    return {number, serial_, static_cast<int8_t>(core())};
  }

  BoundRegister BeginLoop(nb::handle lo, nb::handle hi, nb::handle step) {
    const Value low = Bound(lo, "lo"), high = Bound(hi, "hi");
    return {OrRaiseHere(builder().BeginLoop(low, high, ToInt(step, "step"),
                                            Source(""))),
            serial_, static_cast<int8_t>(core())};
  }

  void BeginWhile(nb::handle reg) {
    const Value condition = Bound(reg, "reg");
    if (condition.kind != Value::Kind::kRegister) {
      RaiseTypeError("reg must be a Register, not int");
    }
    const absl::Status ok = builder().BeginWhile(condition, Source(""));
    if (!ok.ok()) RaiseHere(ok);
  }

  void EndLoop() {
    const absl::Status ok = builder().EndLoop();
    if (!ok.ok()) RaiseHere(ok);
  }

  void SelectCore(int core) {
    const absl::Status ok = builder().SelectCore(core);
    if (!ok.ok()) RaiseHere(ok);
  }

  // Gives a BoundInstruction in a kernel of nki, else None.
  nb::object Add(nb::handle self, size_t index, nb::tuple args,
                 nb::dict kwargs) {
    std::unique_ptr<Call> call = builder().NewCall(*Operations()[index]);
    const CallExtras extras = ReadArguments(*call, serial_, args, kwargs, nki_);
    CallOptions options;
    options.waits = extras.waits;
    options.signals = extras.signals;
    options.source = Source(extras.label);
    const absl::Status ok = builder().Add(std::move(call), options);
    if (!ok.ok()) RaiseHere(ok);
    if (!nki_) return nb::none();
    return nb::cast(BoundInstruction{nb::borrow(self), builder_.LastAdded()});
  }

  void Order(const ProgramBuilder::Added& before,
             const ProgramBuilder::Added& after) {
    const absl::Status ok = builder().Order(before, after);
    if (!ok.ok()) RaiseHere(ok);
  }

  BoundProgram Build() {
    absl::StatusOr<std::shared_ptr<const Program>> program;
    {
      const Building scope(builder(), building_);
      const nb::gil_scoped_release release;
      program = scope.builder.Build();
    }
    if (!program.ok()) RaiseHere(program.status());
    return {*std::move(program)};
  }

  std::string target() const { return std::string(Name(builder_.target())); }
  const std::string& name() const { return builder_.program().name; }
  int cores() const { return builder_.num_cores(); }
  int core() const { return builder_.current_core(); }

 private:
  struct Building {
    Building(ProgramBuilder& b, bool& f) : builder(b), flag(f) { flag = true; }
    ~Building() { flag = false; }
    ProgramBuilder& builder;
    bool& flag;
  };

  Value Bound(nb::handle value, std::string_view what) const {
    if (IsInt(value)) return Value::Integer(ToInt(value, what));
    BoundRegister* reg = nullptr;
    if (!nb::try_cast(value, reg) || reg == nullptr) {
      RaiseTypeError(absl::StrCat(std::string(what),
                                  " must be a Register or an int, not ",
                                  TypeName(value)));
    }
    if (reg->builder != serial_) {
      RaiseHere(Category::kIllegal, "argument.builder",
                absl::StrCat(std::string(what), " is a register of another ",
                             Whole()));
    }
    Value result = Value::Register(reg->index);
    result.core = reg->core;
    return result;
  }

  // What views and registers belong to, as the author calls it.
  std::string Whole() const { return nki_ ? "kernel" : "ProgramBuilder"; }
  const Tensor& Own(const BoundView& v) const {
    if (v.builder != serial_) {
      RaiseHere(Category::kIllegal, "argument.builder",
                absl::StrCat("'", v.view.name, "' is of another ", Whole()));
    }
    return builder_.program().tensors[v.view.tensor];
  }

  static int Checked(int cores) {
    if (cores == 1 || cores == 2) return cores;
    RaiseValueError(absl::StrCat(
        "a program has 1 core, or 2 for a logical core of two; not ", cores));
  }
  ProgramBuilder& builder() {
    if (!building_) return builder_;
    PyErr_SetString(PyExc_RuntimeError,
                    "another thread is building this program");
    throw nb::python_error();
  }
  uint32_t Source(std::string_view label) {
    return sources_.Here(builder(), label);
  }
  nb::object Wrap(absl::StatusOr<View> view) const {
    return nb::cast(BoundView{OrRaiseHere(std::move(view)), serial_});
  }

  static inline std::atomic<uint64_t> next_serial_ = 1;
  const uint64_t serial_;
  ProgramBuilder builder_;
  bool nki_ = false;
  Sources sources_;
  bool building_ = false;
};

template <typename Enum, size_t n>
Enum FromNames(const std::array<std::string_view, n>& names,
               const std::string& name, std::string_view what) {
  // The first name is that of the unset value.
  const std::span<const std::string_view> known = std::span(names).subspan(1);
  if (name != names[0]) {
    if (const auto value = FromName<Enum>(names, name)) return *value;
  }
  std::string list;
  for (std::string_view k : known) {
    absl::StrAppend(&list, list.empty() ? "" : ", ", std::string(k));
  }
  RaiseValueError(absl::StrCat(std::string(what), " must be one of ", list,
                               ", not \"", name, "\""));
}

// A number, or a register of the semaphore's builder, and which it is.
std::pair<int64_t, bool> CountOf(nb::handle value,
                                 const BoundSemaphore& semaphore) {
  BoundRegister* reg = nullptr;
  if (!nb::try_cast(value, reg) || reg == nullptr) {
    return {ToInt(value, "a semaphore's value"), false};
  }
  if (reg->builder != semaphore.builder) {
    RaiseHere(Category::kIllegal, "argument.builder",
              "a semaphore's value is a register of another ProgramBuilder");
  }
  return {reg->index, true};
}

void InitWait(BoundWait* self, const BoundSemaphore& semaphore,
              nb::handle value, bool consume) {
  const auto [count, is_register] = CountOf(value, semaphore);
  new (self)
      BoundWait{semaphore, {semaphore.index, count, consume, is_register}};
}

void InitSignal(BoundSignal* self, const BoundSemaphore& semaphore,
                const std::string& op, nb::handle value,
                const std::string& at) {
  const auto [count, is_register] = CountOf(value, semaphore);
  new (self) BoundSignal{
      semaphore,
      {semaphore.index, FromNames<SignalOp>(kSignalOpNames, op, "op"),
       FromNames<SignalAt>(kSignalAtNames, at, "at"), count, is_register}};
}

void BindSemaphores(nb::module_& m) {
  nb::class_<BoundRegister>(m, "Register",
                            "A 32-bit register of a core, as its sequencers "
                            "have it.")
      .def_ro("index", &BoundRegister::index, "Its number in the core.")
      .def("__repr__", [](const BoundRegister& r) {
        return absl::StrCat("<Register ", r.index, ">");
      });
  nb::class_<BoundSemaphore>(m, "Semaphore",
                             "A counter that engines wait for and signal.")
      .def_ro("name", &BoundSemaphore::name)
      .def_ro("index", &BoundSemaphore::index, "Position in the program.")
      .def("__repr__", [](const BoundSemaphore& s) {
        return absl::StrCat("<Semaphore ", s.name, ">");
      });
  nb::class_<BoundWait>(m, "Wait",
                        "Start when `semaphore` is at least `value`; with "
                        "consume=True then subtract it.")
      .def("__init__", &InitWait, nb::arg("semaphore"), nb::arg("value").none(),
           nb::arg("consume") = false,
           nb::sig("def __init__(self, semaphore: Semaphore, "
                   "value: int | Register, "
                   "consume: bool = False) -> None"))
      .def_ro("semaphore", &BoundWait::semaphore)
      .def_prop_ro("value", [](const BoundWait& w) { return w.wait.value; })
      .def_prop_ro("consume",
                   [](const BoundWait& w) { return w.wait.consume; });
  nb::class_<BoundSignal>(m, "Signal",
                          "What an operation does to `semaphore` when it is "
                          "complete, or (at=\"read\") has read its inputs.")
      .def("__init__", &InitSignal, nb::arg("semaphore"), nb::arg("op") = "add",
           nb::arg("value") = 1, nb::arg("at") = "complete",
           nb::sig("def __init__(self, semaphore: Semaphore, op: str = 'add', "
                   "value: int | Register = 1, at: str = 'complete') -> None"))
      .def_ro("semaphore", &BoundSignal::semaphore)
      .def_prop_ro("op",
                   [](const BoundSignal& s) {
                     return std::string(
                         kSignalOpNames[static_cast<size_t>(s.signal.op)]);
                   })
      .def_prop_ro("value", [](const BoundSignal& s) { return s.signal.value; })
      .def_prop_ro("at", [](const BoundSignal& s) {
        return std::string(kSignalAtNames[static_cast<size_t>(s.signal.at)]);
      });
}

}  // namespace

// instruction.depends_on(*producers)
nb::object DependsOn(nb::handle self, nb::args producers) {
  const auto& after = *nb::inst_ptr<BoundInstruction>(self);
  for (nb::handle producer : producers) {
    BoundInstruction* before = nullptr;
    if (!nb::try_cast(producer, before) || before == nullptr) {
      RaiseTypeError(absl::StrCat("depends_on takes instructions, not ",
                                  TypeName(producer)));
    }
    if (!before->builder.is(after.builder)) {
      RaiseHere(Category::kIllegal, "argument.builder",
                "depends_on: an instruction of another kernel");
    }
    nb::inst_ptr<BoundBuilder>(after.builder)
        ->Order(before->added, after.added);
  }
  return nb::borrow(self);
}

void BindBuilder(nb::module_& m) {
  BindSemaphores(m);
  nb::class_<BoundInstruction>(
      m, "NkiInstruction",
      "An instruction that a kernel has issued: what nki.isa's functions give.")
      .def("depends_on", &DependsOn,
           nb::sig("def depends_on(self, *producers: NkiInstruction) -> "
                   "NkiInstruction"),
           "Starts this instruction when each of `producers`, issued before, "
           "is complete, beyond what data asks for: a semaphore on the device. "
           "Gives itself. Fault (illegal) for one inside another device loop.")
      .def_prop_ro("core",
                   [](const BoundInstruction& i) { return i.added.core; })
      .def("__repr__", [](const BoundInstruction& i) {
        return absl::StrCat("<NkiInstruction ", i.added.first, " of core ",
                            i.added.core, ">");
      });
  nb::class_<BoundBuilder>(m, "Builder",
                           "What trnemu.ProgramBuilder is made of.")
      .def(nb::init<std::string_view, std::string, int, bool>(),
           nb::arg("target"), nb::arg("name"), nb::arg("cores"),
           nb::arg("automatic"))
      .def_prop_ro("target", &BoundBuilder::target)
      .def_prop_ro("name", &BoundBuilder::name)
      .def_prop_ro("cores", &BoundBuilder::cores)
      .def_prop_ro("core", &BoundBuilder::core)
      .def("add_tensor", &BoundBuilder::AddTensor, nb::arg("kind"),
           nb::arg("name").none(), nb::arg("shape").none(),
           nb::arg("dtype").none(),
           nb::sig("def add_tensor(self, kind: str, name: str, "
                   "shape: collections.abc.Sequence[int], dtype: typing.Any, "
                   "/) -> View"))
      .def("add_constant", &BoundBuilder::AddConstant, nb::arg("name"),
           nb::arg("shape"), nb::arg("dtype").none(), nb::arg("bytes"),
           nb::sig("def add_constant(self, name: str, shape: "
                   "collections.abc.Sequence[int], "
                   "dtype: typing.Any, bytes: typing.Any) -> View"))
      .def("add_tile", &BoundBuilder::AddTile, nb::arg("psum"),
           nb::arg("shape").none(), nb::arg("dtype").none(),
           nb::arg("name").none(), nb::arg("address").none(),
           nb::sig("def add_tile(self, psum: bool, shape: "
                   "collections.abc.Sequence[int], "
                   "dtype: typing.Any, name: str, "
                   "address: collections.abc.Sequence[int] | None) -> View"))
      .def("add_semaphore", &BoundBuilder::AddSemaphore, nb::arg("name").none(),
           nb::sig("def add_semaphore(self, name: str) -> Semaphore"))
      .def("add_register", &BoundBuilder::AddRegister, nb::arg("x").none(),
           nb::sig("def add_register(self, x: int | None) -> Register"))
      .def("begin_loop", &BoundBuilder::BeginLoop, nb::arg("lo").none(),
           nb::arg("hi").none(), nb::arg("step").none(),
           nb::sig("def begin_loop(self, lo: int | Register, "
                   "hi: int | Register, step: int) -> Register"))
      .def("begin_while", &BoundBuilder::BeginWhile, nb::arg("reg").none(),
           nb::sig("def begin_while(self, reg: Register) -> None"))
      .def("end_loop", &BoundBuilder::EndLoop)
      .def("select_core", &BoundBuilder::SelectCore)
      .def(
          "add",
          [](nb::handle self, size_t index, nb::tuple args, nb::dict kwargs) {
            return nb::inst_ptr<BoundBuilder>(self)->Add(
                self, index, std::move(args), std::move(kwargs));
          },
          nb::sig("def add(self, index: int, args: tuple[typing.Any, ...], "
                  "kwargs: dict[str, typing.Any], /) -> typing.Any"))
      .def("become_nki", &BoundBuilder::BecomeNki, nb::arg("api_rules"))
      .def("make_output", &BoundBuilder::MakeOutput, nb::arg("view"))
      .def("settle_inputs", &BoundBuilder::SettleInputs)
      .def("address_of", &BoundBuilder::AddressOf, nb::arg("view"))
      .def("kind_of", &BoundBuilder::KindOf, nb::arg("view"))
      .def(
          "clone", [](const BoundBuilder& b) { return new BoundBuilder(b); },
          nb::rv_policy::take_ownership)
      .def_prop_ro("instructions", &BoundBuilder::CountInstructions)
      .def("build", &BoundBuilder::Build);
}

}  // namespace trnemu::bindings
