// The arguments of an operation, from what Python passes. A wrong kind or name
// is a TypeError, as for any Python function; a broken rule is the builder's
// to find.
#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/bindings.h"
#include "isa/call_form.h"

namespace trnemu::bindings {
namespace {

// What people call some operations elsewhere, which no edit distance finds.
std::string UsualHint(std::string_view name,
                      std::span<const std::string_view> names) {
  static constexpr std::pair<std::string_view, std::string_view> kUsual[] = {
      {"max", "maximum"},   {"min", "minimum"},  {"mul", "multiply"},
      {"sub", "subtract"},  {"sum", "add"},      {"pow", "power"},
      {"eq", "equal"},      {"ne", "not_equal"}, {"lt", "less"},
      {"le", "less_equal"}, {"gt", "greater"},   {"ge", "greater_equal"},
      {"ln", "log"},        {"atan", "arctan"},  {"not", "invert"}};
  for (const auto& [given, meant] : kUsual) {
    if (given == name &&
        std::find(names.begin(), names.end(), meant) != names.end()) {
      return absl::StrCat("; did you mean ", std::string(meant), "?");
    }
  }
  if (name == "divide" || name == "div" || name == "mod" || name == "fmod") {
    return "; the device has no division: multiply by reciprocal";
  }
  return Suggestion(name, names);
}

// The parameters of an operation as Python has them.
struct Names {
  std::vector<size_t> visible;     // without the rest of lists
  std::vector<PyObject*> strings;  // interned, by parameter; null for the rest
};

// Not the rest of a list, nor, in a kernel of nki, what is not nki.isa's.
bool IsVisible(std::string_view name, bool nki) {
  if (name.ends_with("]")) return false;
  return !nki || (name != "trigger" && name != "queues" && name != "stream");
}

Names NamesOf(const OperationInfo& operation, bool nki) {
  Names names;
  for (size_t i = 0; i < operation.parameters.size(); ++i) {
    const std::string name(operation.parameters[i].name);
    const bool visible = IsVisible(name, nki);
    if (visible) names.visible.push_back(i);
    names.strings.push_back(visible ? PyUnicode_InternFromString(name.c_str())
                                    : nullptr);
  }
  return names;
}

// Kept for good.
const Names& FindNames(const Call& call, bool nki) {
  static const auto* const all = [] {
    auto* names = new std::array<std::vector<Names>, 2>;
    for (const OperationInfo* o : Operations()) {
      (*names)[0].push_back(NamesOf(*o, false));
      (*names)[1].push_back(NamesOf(*o, true));
    }
    return names;
  }();
  return (*all)[nki ? 1 : 0][call.form->number];
}

// Reads the arguments of one call.
class Reader {
 public:
  Reader(Call& call, uint64_t builder, ProgramBuilder& to, bool nki)
      : operation_(*call.operation),
        to_(to),
        names_(FindNames(call, nki)),
        builder_(builder),
        nki_(nki),
        values_(call.values) {}

  CallExtras Run(nb::tuple args, nb::dict kwargs) {
    if (args.size() > names_.visible.size()) {
      Fail(absl::StrCat("takes ", names_.visible.size(),
                        " positional arguments but ", args.size(),
                        " were given"));
    }
    for (size_t i = 0; i < args.size(); ++i) {
      Set(names_.visible[i], PyTuple_GET_ITEM(args.ptr(), i));
    }
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(kwargs.ptr(), &at, &key, &value)) Keyword(key, value);
    for (size_t i = 0; i < operation_.parameters.size(); ++i) {
      const ParameterSpec& spec = operation_.parameters[i];
      if (spec.required && !given_[i]) {
        Fail(absl::StrCat("missing required argument: '",
                          std::string(spec.name), "'"));
      }
    }
    return std::move(extras_);
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    RaiseTypeError(absl::StrCat(std::string(operation_.name), "() ", what));
  }
  [[noreturn]] void WrongKind(const ParameterSpec& spec, std::string_view must,
                              nb::handle value) const {
    const std::string type = TypeName(value);
    if (!nki_) {
      Fail(absl::StrCat("argument '", std::string(spec.name), "' must be ",
                        std::string(must), ", not ", type));
    }
    // As an author of nki calls it, with what is usually meant.
    std::string what(must);
    if (const size_t at = what.find("View"); at != what.npos) {
      what.replace(at, 4, "tensor");
    }
    std::string hint;
    if (type.ends_with("NkiInstruction")) {
      hint = "; an instruction gives no tile: use what it was given as dst=";
    } else if (type.ends_with("TileValues") || type == "numpy.ndarray") {
      hint =
          "; NumPy's functions only look at values: use nl's, or "
          "nl.shared_constant for an array";
    }
    Fail(absl::StrCat("argument '", std::string(spec.name), "' must be ", what,
                      ", not ", type, hint));
  }
  std::string Argument(const ParameterSpec& spec) const {
    return absl::StrCat(std::string(operation_.name), "() argument '",
                        std::string(spec.name), "'");
  }

  void Keyword(PyObject* name, nb::handle value) {
    // Those of a call are interned; of a dict they need not be.
    const auto same =
        std::find(names_.strings.begin(), names_.strings.end(), name);
    if (same != names_.strings.end()) {
      return Set(static_cast<size_t>(same - names_.strings.begin()), value);
    }
    const std::string_view key = Utf8(name);
    const int index = ParameterIndex(operation_, key);
    if (index >= 0 && IsVisible(key, nki_)) {
      return Set(static_cast<size_t>(index), value);
    }
    if (!nki_ && key == "wait") return ReadWaits(value);
    if (!nki_ && key == "signal") return ReadSignals(value);
    std::vector<std::string_view> names;
    if (!nki_) names = {"wait", "signal"};
    for (const ParameterSpec& p : operation_.parameters) {
      if (IsVisible(p.name, nki_)) names.push_back(p.name);
    }
    Fail(absl::StrCat("got an unexpected keyword argument '", std::string(key),
                      "'", Suggestion(key, names)));
  }

  void Set(size_t index, nb::handle value) {
    const ParameterSpec& spec = operation_.parameters[index];
    if (given_[index]) {
      Fail(absl::StrCat("got multiple values for argument '",
                        std::string(spec.name), "'"));
    }
    given_[index] = true;
    if (spec.kind == ParameterKind::kText) return ReadLabel(spec, value);
    if (value.is_none() && spec.default_text == "None") {
      return;
    }
    if (spec.repeats > 1) return ReadTiles(index, value);
    Read(spec, value, values_[index]);
  }

  // A list of tiles, into as many parameters in a row.
  void ReadTiles(size_t index, nb::handle value) {
    const ParameterSpec& spec = operation_.parameters[index];
    if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
      WrongKind(spec, "a list of Views", value);
    }
    const nb::list items(nb::borrow(value));
    CheckCount(spec, items.size(), spec.repeats);
    for (size_t i = 0; i < items.size(); ++i) {
      ReadTile(spec, OnlyOne(spec, items[i]), "a list of Views",
               values_[index + i]);
    }
  }

  // Lists by channel have a list for each, of one tile.
  nb::object OnlyOne(const ParameterSpec& spec, nb::handle item) const {
    if (!spec.name.ends_with("_by_channel") || !PyList_Check(item.ptr())) {
      return nb::borrow(item);
    }
    const nb::list tiles(nb::borrow(item));
    CheckCount(spec, tiles.size(), 1);
    if (tiles.size() == 0) WrongKind(spec, "lists of one View each", item);
    return tiles[0];
  }

  std::string Whole() const { return nki_ ? "kernel" : "ProgramBuilder"; }
  [[noreturn]] void OfAnotherBuilder(const ParameterSpec& spec,
                                     const std::string& what) const {
    Diagnostic d;
    d.category = Category::kIllegal;
    d.id = "argument.builder";
    d.operation = operation_.name;
    d.operand = spec.name;
    d.message = absl::StrCat(d.operation, ": ", d.operand, " is ", what,
                             " of another ", Whole());
    RaiseHere(ToStatus(std::move(d)));
  }

  Value ReadRegister(const ParameterSpec& spec, nb::handle value,
                     std::string_view must) const {
    BoundRegister* reg = nullptr;
    if (!nb::try_cast(value, reg) || reg == nullptr) {
      WrongKind(spec, must, value);
    }
    if (reg->builder != builder_) {
      OfAnotherBuilder(spec, "a register");
    }
    Value result = Value::Register(reg->index);
    result.core = reg->core;
    return result;
  }

  // Numbers that must all be 1: 1, or the first that is not.
  Value ReadScales(const ParameterSpec& spec, nb::handle value) const {
    if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
      WrongKind(spec, "a list of numbers", value);
    }
    const nb::list items(nb::borrow(value));
    Value result = Value::Number(1);
    for (nb::handle item : items) {
      const Value number = ReadNumber(spec, item, "a list of numbers");
      if (number.number != 1 && result.number == 1) result = number;
    }
    result.num_ints = static_cast<uint8_t>(std::min<size_t>(items.size(), 255));
    result.counted = true;
    return result;
  }

  void Read(const ParameterSpec& spec, nb::handle value, Value& to) const {
    switch (spec.kind) {
      case ParameterKind::kTile:
        return ReadTile(spec, value, "a View", to);
      case ParameterKind::kTileOrNumber:
        if (BoundView* view = nullptr; nb::try_cast(value, view) && view) {
          return Take(spec, *view, to);
        }
        to = ReadNumber(spec, value, "a View or a number");
        return;
      default:
        to = ReadOther(spec, value);
    }
  }

  // What is no tile.
  Value ReadOther(const ParameterSpec& spec, nb::handle value) const {
    switch (spec.kind) {
      case ParameterKind::kNumber:
        return ReadNumber(spec, value, "a number");
      case ParameterKind::kInteger:
        return Value::Integer(ReadInt(spec, value));
      case ParameterKind::kBool:
        return Value::Bool(ReadBool(spec, value, "a bool"));
      case ParameterKind::kAccumulate:
        return Value::OfEnum(ReadBool(spec, value, "True, False or None")
                                 ? Accumulate::kTrue
                                 : Accumulate::kFalse);
      case ParameterKind::kPattern:
        return ReadPattern(spec, value);
      case ParameterKind::kAxes:
        if (IsInt(value)) {
          const int64_t axis = ReadInt(spec, value);
          return Value::Ints({&axis, 1});
        }
        return ReadInts(spec, value, kMaxInts);
      case ParameterKind::kIntPair:
        return ReadInts(spec, value, 2);
      case ParameterKind::kInts:
        return ReadInts(spec, value, kMaxInts);
      case ParameterKind::kReplicaGroups:
        return ReadGroups(spec, value);
      case ParameterKind::kMask:
        return Value::Mask(ToInts(value, Argument(spec)));
      case ParameterKind::kScales:
        return ReadScales(spec, value);
      case ParameterKind::kRegister:
        return ReadRegister(spec, value, "a Register");
      case ParameterKind::kRegisterOrInteger:
        if (IsInt(value)) return Value::Integer(ReadInt(spec, value));
        return ReadRegister(spec, value, "a Register or an int");
      default:
        return ReadName(spec, value);
    }
  }

  int64_t ReadInt(const ParameterSpec& spec, nb::handle value) const {
    int64_t integer = 0;
    if (QuickInt(value.ptr(), integer)) return integer;
    return ToInt(value, Argument(spec));
  }

  void ReadTile(const ParameterSpec& spec, nb::handle value,
                std::string_view must, Value& to) const {
    BoundView* view = nullptr;
    if (!nb::try_cast(value, view) || view == nullptr) {
      WrongKind(spec, must, value);
    }
    Take(spec, *view, to);
  }

  void Take(const ParameterSpec& spec, const BoundView& view, Value& to) const {
    if (view.builder != builder_) {
      OfAnotherBuilder(spec, absl::StrCat("'", view.view.name, "', a view"));
    }
    RaiseIfBroken(view);
    const absl::Status ok = SetTile(view.view, spec.keep_dims, to);
    if (!ok.ok()) RaiseHere(ok);
  }

  // Python and NumPy numbers; arrays are none, whatever their size.
  Value ReadNumber(const ParameterSpec& spec, nb::handle value,
                   std::string_view must) const {
    if (PyFloat_CheckExact(value.ptr())) {
      return Value::Number(PyFloat_AS_DOUBLE(value.ptr()));
    }
    int64_t integer = 0;
    if (QuickInt(value.ptr(), integer)) return Value::Integer(integer);
    if (PyLong_Check(value.ptr())) {
      return Value::Integer(
          ToInt(nb::steal(PyNumber_Index(value.ptr())), Argument(spec)));
    }
    if (!PyNumber_Check(value.ptr()) || PyComplex_Check(value.ptr()) ||
        PyObject_HasAttrString(value.ptr(), "__len__") ||
        nb::hasattr(value, "is_leaf")) {  // a torch tensor
      WrongKind(spec, must, value);
    }
    if (PyIndex_Check(value.ptr())) {
      return Value::Integer(ToInt(value, Argument(spec)));
    }
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      WrongKind(spec, must, value);
    }
    return Value::Number(number);
  }

  bool ReadBool(const ParameterSpec& spec, nb::handle value,
                std::string_view must) const {
    if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
    const std::string type = TypeName(value);
    if (type == "numpy.bool" || type == "numpy.bool_") {
      return PyObject_IsTrue(value.ptr()) == 1;
    }
    WrongKind(spec, must, value);
  }

  // A ufunc where nki.isa has an op of nl (op=np.add), as public kernels have.
  // Numbers of enums, which NKI 0.2 takes, trnemu.nki turns into names.
  nb::object NkiName(const ParameterSpec& spec, nb::handle value) const {
    if (TypeName(value) == "numpy.ufunc") return value.attr("__name__");
    if (IsInt(value)) {
      WrongKind(spec, "a name, as those of nki.isa and nki.language are",
                value);
    }
    return {};
  }

  Value ReadName(const ParameterSpec& spec, nb::handle value) const {
    if (nki_ && !PyUnicode_Check(value.ptr())) {
      const nb::object name = NkiName(spec, value);
      if (name.is_valid()) return ReadName(spec, name);
    }
    if (!PyUnicode_Check(value.ptr())) WrongKind(spec, "a str", value);
    const std::string_view name = Utf8(value);
    const Value found = EnumFromName(spec.kind, name);
    if (!found.is_none()) return found;
    const std::vector<std::string_view> names = EnumNames(spec.kind);
    std::string list;
    for (std::string_view n : names) {
      absl::StrAppend(&list, list.empty() ? "" : ", ", std::string(n));
    }
    std::string hint = UsualHint(name, names);
    if (hint.empty()) hint = "; it takes " + list;
    Diagnostic d;
    d.category = Category::kIllegal;
    d.id = "operand.value";
    d.message =
        absl::StrCat(std::string(operation_.name), ": ", std::string(spec.name),
                     " cannot be \"", std::string(name), "\"", hint);
    d.operation = operation_.name;
    d.operand = spec.name;
    d.details = {{"values", list}};
    RaiseHere(ToStatus(std::move(d)));
  }

  Value ReadPattern(const ParameterSpec& spec, nb::handle value) const {
    const std::vector<Dim> pattern = ToPattern(value, Argument(spec));
    CheckCount(spec, pattern.size(), kMaxInts);
    return Value::Pattern(pattern);
  }

  Value ReadInts(const ParameterSpec& spec, nb::handle value,
                 size_t most) const {
    const std::vector<int64_t> ints = ToInts(value, Argument(spec));
    CheckCount(spec, ints.size(), most);
    if (spec.kind == ParameterKind::kIntPair && ints.size() == 1) {
      CheckCount(spec, 1, 0);
    }
    return Value::Ints(ints);
  }

  // Lists of ranks, or a ReplicaGroup, which has them as `groups`.
  Value ReadGroups(const ParameterSpec& spec, nb::handle value) const {
    constexpr std::string_view kMust =
        "a ReplicaGroup or a list of lists of ranks";
    if (nb::hasattr(value, "groups")) {
      return ReadGroups(spec, value.attr("groups"));
    }
    if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
      WrongKind(spec, kMust, value);
    }
    ReplicaGroups groups;
    for (nb::handle item : nb::list(nb::borrow(value))) {
      if (IsInt(item)) WrongKind(spec, kMust, item);
      auto& group = groups.emplace_back();
      for (const int64_t rank : ToInts(item, Argument(spec))) {
        if (rank >= 0 && rank < 65536) {
          group.push_back(static_cast<uint32_t>(rank));
          continue;
        }
        Diagnostic d;
        d.category = Category::kIllegal;
        d.id = "collective.rank";
        d.message = absl::StrCat(std::string(operation_.name), ": ",
                                 std::string(spec.name), " has rank ", rank,
                                 "; ranks are 0 to 65535");
        d.operation = operation_.name;
        d.operand = spec.name;
        RaiseHere(ToStatus(std::move(d)));
      }
    }
    return Value::Integer(to_.AddReplicaGroups(groups));
  }

  void CheckCount(const ParameterSpec& spec, size_t count, size_t most) const {
    if (count <= most) return;
    Diagnostic d;
    d.category = Category::kIllegal;
    d.id = "argument.count";
    d.message = absl::StrCat(
        std::string(operation_.name), ": ", std::string(spec.name), " has ",
        count, count == 1 ? " item" : " items", "; it takes ",
        spec.kind == ParameterKind::kIntPair ? "none or 2"
                                             : absl::StrCat("at most ", most));
    d.operation = operation_.name;
    d.operand = spec.name;
    RaiseHere(ToStatus(std::move(d)));
  }

  void ReadLabel(const ParameterSpec& spec, nb::handle value) {
    if (value.is_none()) return;
    if (!PyUnicode_Check(value.ptr())) WrongKind(spec, "a str", value);
    extras_.label = Utf8(value);
  }

  // The items of wait= and signal=; `form` says what each must be.
  nb::list Entries(nb::handle value, std::string_view form) const {
    if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
      Fail(absl::StrCat(std::string(form), ", not ", TypeName(value)));
    }
    const nb::list items(nb::borrow(value));
    if (items.size() > std::numeric_limits<uint8_t>::max()) {
      RaiseHere(Category::kIllegal, "argument.count",
                absl::StrCat(std::string(operation_.name),
                             " waits for, or "
                             "signals, ",
                             items.size(),
                             " semaphores; the "
                             "limit is 255"));
    }
    return items;
  }

  uint32_t Own(const BoundSemaphore& semaphore) const {
    if (semaphore.builder == builder_) return semaphore.index;
    RaiseHere(Category::kIllegal, "argument.builder",
              absl::StrCat(std::string(operation_.name), ": semaphore '",
                           semaphore.name, "' is of another ProgramBuilder"));
  }

  struct Count {
    int64_t value = 0;
    bool is_register = false;
  };
  // (semaphore, number)
  std::pair<uint32_t, Count> Pair(nb::handle item,
                                  std::string_view form) const {
    if (!PyTuple_Check(item.ptr()) || PyTuple_GET_SIZE(item.ptr()) != 2) {
      Fail(absl::StrCat(std::string(form), "; an item is ", TypeName(item)));
    }
    BoundSemaphore* semaphore = nullptr;
    if (!nb::try_cast(nb::handle(PyTuple_GET_ITEM(item.ptr(), 0)), semaphore) ||
        semaphore == nullptr) {
      Fail(absl::StrCat(std::string(form), "; the first of a pair is ",
                        TypeName(PyTuple_GET_ITEM(item.ptr(), 0))));
    }
    return {Own(*semaphore), CountOf(PyTuple_GET_ITEM(item.ptr(), 1))};
  }

  // A number or a register.
  Count CountOf(nb::handle value) const {
    BoundRegister* reg = nullptr;
    if (!nb::try_cast(value, reg) || reg == nullptr) {
      return {ToInt(value, "a semaphore's value"), false};
    }
    if (reg->builder != builder_) {
      RaiseHere(Category::kIllegal, "argument.builder",
                absl::StrCat(std::string(operation_.name),
                             ": a register of another ", Whole()));
    }
    return {reg->index, true};
  }

  void ReadWaits(nb::handle value) {
    constexpr std::string_view kForm =
        "argument 'wait' must be a list of (Semaphore, int) or Wait";
    for (nb::handle item : Entries(value, kForm)) {
      BoundWait* wait = nullptr;
      if (nb::try_cast(item, wait) && wait != nullptr) {
        extras_.waits.push_back(wait->wait);
        extras_.waits.back().semaphore = Own(wait->semaphore);
      } else {
        const auto [semaphore, count] = Pair(item, kForm);
        extras_.waits.push_back(
            {semaphore, count.value, false, count.is_register});
      }
    }
  }

  void ReadSignals(nb::handle value) {
    constexpr std::string_view kForm =
        "argument 'signal' must be a list of (Semaphore, int) or Signal";
    for (nb::handle item : Entries(value, kForm)) {
      BoundSignal* signal = nullptr;
      if (nb::try_cast(item, signal) && signal != nullptr) {
        extras_.signals.push_back(signal->signal);
        extras_.signals.back().semaphore = Own(signal->semaphore);
      } else {
        const auto [semaphore, count] = Pair(item, kForm);
        extras_.signals.push_back({semaphore, SignalOp::kAdd,
                                   SignalAt::kComplete, count.value,
                                   count.is_register});
      }
    }
  }

  const OperationInfo& operation_;
  ProgramBuilder& to_;
  const Names& names_;
  const uint64_t builder_;
  const bool nki_;
  const std::span<Value> values_;
  CallExtras extras_;
  std::array<bool, kMaxParameters> given_{};
};

}  // namespace

CallExtras ReadArguments(Call& call, uint64_t builder, ProgramBuilder& to,
                         nb::tuple args, nb::dict kwargs, bool nki) {
  return Reader(call, builder, to, nki).Run(args, kwargs);
}

}  // namespace trnemu::bindings
