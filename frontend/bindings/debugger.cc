// Debugger: a run step by step. What the Python classes of trnemu._debug are
// made of; stops and states are dictionaries.
#include "core/debugger.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/running.h"

namespace trnemu::bindings {
namespace {

nb::str Text(std::string_view text) {
  return nb::str(text.data(), text.size());
}

nb::bytes Bytes(std::span<const std::byte> bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

const Program& ProgramOf(const BoundDebugger& self) {
  return self.debugger->runner().program();
}

void AddInstruction(nb::dict& to, const Program& program, size_t core,
                    const Instruction& i) {
  to["core"] = core;
  to["instruction"] = i.order;
  to["operation"] = Text(program.operations[i.operation]);
  to["opcode"] = Text(Info(i.opcode).name);
  to["engine"] = Text(Name(i.engine));
  to["source"] = Text(program.DescribeSource(i.source));
}

std::string_view KindName(const DebugStop& stop) {
  switch (stop.kind) {
    case DebugStop::Kind::kStep:
      return "step";
    case DebugStop::Kind::kBreak:
      return "break";
    case DebugStop::Kind::kWatch:
      return "watch";
    case DebugStop::Kind::kEnd:
      break;
  }
  return "end";
}

std::string_view EffectName(const DebugStop& stop) {
  switch (stop.effect) {
    case Effect::Kind::kInstruction:
      return "instruction";
    case Effect::Kind::kTrigger:
      return "trigger";
    case Effect::Kind::kRead:
      return "read";
    case Effect::Kind::kPart:
      break;
  }
  return "write";
}

nb::dict ToDict(const BoundDebugger& self, const DebugStop& stop) {
  nb::dict d;
  d["kind"] = Text(KindName(stop));
  d["id"] = stop.id;
  d["time_ns"] = static_cast<double>(self.debugger->time()) / kTicksPerNs;
  if (stop.instruction != nullptr) {
    AddInstruction(d, ProgramOf(self), stop.core, *stop.instruction);
    const bool last = stop.kind != DebugStop::Kind::kBreak;
    d["effect"] = last ? nb::object(Text(EffectName(stop))) : nb::none();
    d["part"] =
        last && stop.part >= 0 ? nb::object(nb::int_(stop.part)) : nb::none();
  }
  nb::list hits;
  for (const WatchHit& hit : stop.hits) {
    nb::dict h;
    h["id"] = hit.id;
    h["place"] = Text(hit.place);
    h["old"] = Bytes(hit.before);
    h["new"] = Bytes(hit.after);
    h["old_was_written"] = hit.was_written;
    hits.append(h);
  }
  d["hits"] = hits;
  return d;
}

template <typename Go>
auto Run(BoundDebugger& self, Go go) {
  decltype(go()) result = absl::UnknownError("");
  {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(self.shared->mutex);
    result = go();
  }
  self.signals->Rethrow();
  if (!result.ok()) Raise(result.status());
  return *std::move(result);
}

nb::dict Step(BoundDebugger& self, int64_t n) {
  return ToDict(self, Run(self, [&] { return self.debugger->Step(n); }));
}

nb::dict Continue(BoundDebugger& self) {
  return ToDict(self, Run(self, [&] { return self.debugger->Continue(); }));
}

BoundResult Result(BoundDebugger& self) {
  return ResultOf(*self.shared,
                  Run(self, [&] { return self.debugger->Result(); }));
}

// "t[0:4]", or a view of the builder that made the program.
TensorPlace PlaceOf(const BoundDebugger& self, nb::handle what) {
  const Program& program = ProgramOf(self);
  BoundView* view = nullptr;
  if (!nb::try_cast(what, view) || view == nullptr) {
    return OrRaiseHere(ParseTensorPlace(
        ToString(what, "what to read, if it is no View,"), program));
  }
  TensorPlace place;
  place.text = view->view.name;
  place.shape = view->view.Shape();
  auto access = view->view.indirection ? ToAccess(view->view)
                                       : PatternOf(view->view, true);
  if (!access.ok()) access = ToAccess(view->view);
  place.access = OrRaiseHere(std::move(access));
  if (place.access.tensor >= program.tensors.size() ||
      program.tensors[place.access.tensor].name != view->view.name) {
    RaiseHere(Category::kInput, "debug.place",
              absl::StrCat("the program has no tensor ", view->view.name,
                           ": the view is of another builder"));
  }
  place.core = program.tensors[place.access.tensor].core;
  return place;
}

nb::object Owned(std::vector<uint8_t> from) {
  auto* bytes = new std::vector<uint8_t>(std::move(from));
  const nb::capsule owner(bytes, [](void* p) noexcept {
    delete static_cast<std::vector<uint8_t>*>(p);
  });
  return nb::cast(nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(
      bytes->data(), {bytes->size()}, owner));
}

nb::tuple Read(const BoundDebugger& self, nb::handle what) {
  const TensorValues v =
      ReadTensor(self.debugger->runner(), PlaceOf(self, what));
  std::vector<uint8_t> bytes(v.bytes.size()), written(v.written.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(v.bytes[i]);
    written[i] = v.written[i] ? 1 : 0;
  }
  return nb::make_tuple(FromDtype(v.dtype), FromShape(v.shape),
                        Owned(std::move(bytes)), Owned(std::move(written)));
}

int Watch(BoundDebugger& self, nb::handle what) {
  if (nb::isinstance<nb::str>(what)) {
    return OrRaiseHere(self.debugger->Watch(nb::cast<std::string>(what)));
  }
  return self.debugger->Watch(PlaceOf(self, what));
}

int Break(BoundDebugger& self, const std::string& text) {
  return OrRaiseHere(self.debugger->Break(text));
}

nb::list Engines(const BoundDebugger& self) {
  nb::list engines;
  for (const EngineState& e : EnginesOf(self.debugger->runner())) {
    nb::dict d;
    d["core"] = e.core;
    d["engine"] = Text(Name(e.engine));
    d["instruction"] = nb::none();
    if (e.next != nullptr) AddInstruction(d, ProgramOf(self), e.core, *e.next);
    nb::list waits;
    for (const WaitState& w : e.waits) {
      waits.append(nb::make_tuple(w.semaphore, w.value, w.wanted));
    }
    d["waits"] = waits;
    engines.append(d);
  }
  return engines;
}

nb::dict SemaphoreValues(const BoundDebugger& self) {
  nb::dict values;
  const auto& infos = ProgramOf(self).semaphores;
  for (uint32_t i = 0; i < infos.size(); ++i) {
    values[Text(infos[i].name)] = self.debugger->runner().semaphores().value(i);
  }
  return values;
}

// {(core, engine): {number: value}}, of those that have a value.
nb::dict Registers(const BoundDebugger& self) {
  nb::dict all;
  for (const Sequencer& s : self.debugger->runner().sequencers()) {
    nb::dict values;
    for (uint32_t r = 0; r < s.registers.values().size(); ++r) {
      if (s.registers.known(r)) values[nb::int_(r)] = s.registers.value(r);
    }
    if (nb::len(values) > 0) {
      all[nb::make_tuple(s.core, Text(Name(s.engine)))] = values;
    }
  }
  return all;
}

}  // namespace

BoundDebugger Debug(BoundExecutable& self, const nb::list& given,
                    const nb::dict& options) {
  RunOptions run = ReadOptions(options);
  std::vector<InputBytes> keep;
  const Inputs inputs = ReadInputs(given, keep);
  BoundDebugger bound;
  bound.shared = self.shared;
  bound.signals = std::make_unique<SignalCheck>();
  run.interrupted = [signals = bound.signals.get()] { return (*signals)(); };
  const std::lock_guard lock(self.shared->mutex);
  auto debugger = Debugger::Start(*self.executable, inputs, run);
  if (!debugger.ok()) Raise(debugger.status());
  bound.debugger = *std::move(debugger);
  return bound;
}

void BindDebugger(nb::module_& m) {
  nb::class_<BoundDebugger>(m, "Debugger", "What trnemu.Debugger is made of.")
      .def("step", &Step,
           nb::sig("def step(self, n: int, /) -> dict[str, typing.Any]"))
      .def("go_on", &Continue,
           nb::sig("def go_on(self) -> dict[str, typing.Any]"))
      .def("result", &Result)
      .def("breakpoint", &Break)
      .def("watch", &Watch,
           nb::sig("def watch(self, what: str | View, /) -> int"))
      .def("remove", [](BoundDebugger& self,
                        int id) { return self.debugger->Remove(id); })
      .def("read", &Read,
           nb::sig("def read(self, what: str | View, /) -> "
                   "tuple[trnemu._dtype.Dtype, tuple[int, ...], typing.Any, "
                   "typing.Any]"))
      .def("engines", &Engines,
           nb::sig("def engines(self) -> list[dict[str, typing.Any]]"))
      .def("semaphores", &SemaphoreValues,
           nb::sig("def semaphores(self) -> dict[str, int]"))
      .def("registers", &Registers,
           nb::sig("def registers(self) -> dict[tuple[int, str], dict[int, "
                   "int]]"))
      .def_prop_ro("parts_under_way",
                   [](const BoundDebugger& self) {
                     return self.debugger->runner().parts_under_way();
                   })
      .def_prop_ro("ended", [](const BoundDebugger& self) {
        return self.debugger->ended();
      });
}

}  // namespace trnemu::bindings
