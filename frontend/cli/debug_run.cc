#include "frontend/cli/debug_run.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/debugger.h"
#include "core/explore.h"
#include "core/value_text.h"
#include "frontend/cli/debug_options.h"
#include "frontend/cli/table.h"

namespace trnemu::cli {
namespace {

constexpr int64_t kMaxRows = 16, kMaxColumns = 12;

// As a shell takes it.
std::string Quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"
                           "Z0123456789_-./=,:+") == word.npos) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string ReplayCommand(const RunArgs& args) {
  std::string command = Cat("trnemu run ", Quoted(args.program));
  const auto add = [&](const char* option, const std::string& value) {
    command += Cat(" ", option, " ", Quoted(value));
  };
  for (const std::string& input : args.inputs) add("--input", input);
  if (!args.target.empty()) add("--target", args.target);
  if (!args.hardware.empty()) add("--hardware", args.hardware);
  add("--checks", "memory");  // full would end at the race
  if (args.time != "on") add("--time", args.time);
  for (const std::string& id : args.allow) add("--allow", id);
  if (args.strict) command += " --strict";
  if (args.stop_at_nan) command += " --stop-at-nan";
  for (const std::string& key : args.numerics) add("--numerics", key);
  if (args.seed != 0) add("--seed", Cat(args.seed));
  return command + " --schedule SEED";
}

std::string TimeText(Ticks time) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f ns",
                static_cast<double>(time) / kTicksPerNs);
  return text;
}

// The text of each element; "--" where a byte was never written.
std::vector<std::string> Elements(const TensorValues& values) {
  const size_t size = SizeOf(values.dtype);
  std::vector<std::string> texts;
  for (size_t at = 0; at < values.bytes.size(); at += size) {
    const auto begin = values.written.begin() + static_cast<ptrdiff_t>(at);
    const bool written =
        std::find(begin, begin + static_cast<ptrdiff_t>(size), false) ==
        begin + static_cast<ptrdiff_t>(size);
    texts.push_back(written ? ValueText(values.dtype, &values.bytes[at])
                            : "--");
  }
  return texts;
}

void PrintTensor(const TensorPlace& place, const TensorValues& values) {
  const std::vector<std::string> texts = Elements(values);
  Print(Cat(place.text, ", ", DescribeShape(values.shape), " ",
            Name(values.dtype), " in ", Name(place.access.space), "\n"));
  const int64_t rows = values.shape.empty() ? 1 : values.shape[0];
  const auto columns = static_cast<int64_t>(texts.size()) / rows;
  std::vector<std::string> head = {""};
  for (int64_t c = 0; c < std::min(columns, kMaxColumns); ++c) {
    head.push_back(Cat("[", c, "]"));
  }
  if (columns > kMaxColumns) head.push_back("...");
  Table table(head);
  for (int64_t r = 0; r < std::min(rows, kMaxRows); ++r) {
    std::vector<std::string> row = {Cat("[", r, "]")};
    for (int64_t c = 0; c < std::min(columns, kMaxColumns); ++c) {
      row.push_back(texts[static_cast<size_t>(r * columns + c)]);
    }
    if (columns > kMaxColumns) row.push_back("...");
    table.Add(std::move(row));
  }
  Print(table.Text());
  if (rows > kMaxRows || columns > kMaxColumns) {
    Print(Cat("(", rows, " x ", columns,
              "; --dump NAME[SLICE] shows another part)\n"));
  }
}

std::string WaitsText(const EngineState& engine) {
  std::string text;
  for (const WaitState& w : engine.waits) {
    text += Cat(text.empty() ? "" : ", ", w.semaphore, " >= ", w.wanted,
                " (is ", w.value, ")");
  }
  return text.empty() ? "-" : text;
}

void PrintState(const Debugger& debugger,
                const std::vector<TensorPlace>& dumps) {
  const Runner& runner = debugger.runner();
  const Program& program = runner.program();
  Table table({"core", "engine", "next", "operation", "waits for", "source"});
  for (const EngineState& e : EnginesOf(runner)) {
    if (e.next == nullptr) {
      table.Add({Cat(e.core), std::string(Name(e.engine)), "done", "", "", ""});
      continue;
    }
    const std::string source = program.DescribeSource(e.next->source);
    table.Add({Cat(e.core), std::string(Name(e.engine)),
               Cat("#", e.next->order), program.operations[e.next->operation],
               WaitsText(e), source.empty() ? "-" : source});
  }
  Print(table.Text());
  std::string semaphores;
  for (const auto& [name, value] : SemaphoresOf(runner)) {
    semaphores += Cat(" ", name, "=", value);
  }
  Print(Cat(
      "semaphores that are not 0:", semaphores.empty() ? " none" : semaphores,
      "; ", Count(runner.parts_under_way(), "DMA part"), " under way\n"));
  for (const TensorPlace& place : dumps) {
    PrintTensor(place, ReadTensor(runner, place));
  }
  Print("\n");
}

Json StateJson(const Debugger& debugger,
               const std::vector<TensorPlace>& dumps) {
  const Runner& runner = debugger.runner();
  const Program& program = runner.program();
  Json json;
  json["engines"] = Json::array();
  for (const EngineState& e : EnginesOf(runner)) {
    Json engine;
    engine["core"] = e.core;
    engine["engine"] = std::string(Name(e.engine));
    engine["next"] = e.next == nullptr ? Json(nullptr) : Json(e.next->order);
    engine["waits"] = Json::array();
    for (const WaitState& w : e.waits) {
      engine["waits"].push_back({{"semaphore", w.semaphore},
                                 {"value", w.value},
                                 {"wanted", w.wanted}});
    }
    if (e.next != nullptr) {
      engine["operation"] = program.operations[e.next->operation];
      engine["source"] = program.DescribeSource(e.next->source);
    }
    json["engines"].push_back(std::move(engine));
  }
  json["semaphores"] = Json::object();
  for (const auto& [name, value] : SemaphoresOf(runner)) {
    json["semaphores"][name] = value;
  }
  json["dma_parts_under_way"] = runner.parts_under_way();
  json["dumps"] = Json::array();
  for (const TensorPlace& place : dumps) {
    const TensorValues values = ReadTensor(runner, place);
    Json dump;
    dump["place"] = place.text;
    dump["shape"] = values.shape;
    dump["dtype"] = std::string(Name(values.dtype));
    dump["values"] = Json::array();  // as text; null: not written
    for (const std::string& text : Elements(values)) {
      dump["values"].push_back(text == "--" ? Json(nullptr) : Json(text));
    }
    json["dumps"].push_back(std::move(dump));
  }
  return json;
}

std::string HitValue(const WatchHit& hit, std::span<const std::byte> bytes) {
  std::string text = HexText(bytes);
  if (IsValid(hit.dtype) && bytes.size() <= 8 * SizeOf(hit.dtype)) {
    text += " (";
    for (size_t at = 0; at < bytes.size(); at += SizeOf(hit.dtype)) {
      text += Cat(at == 0 ? "" : " ", ValueText(hit.dtype, &bytes[at]));
    }
    text += ")";
  }
  return text;
}

std::string EffectText(const DebugStop& stop) {
  return stop.part >= 0 ? Cat("part ", stop.part, " of ") : "";
}

// Shows stops, in the order in which they come.
class Reporter {
 public:
  Reporter(const Debugger& debugger, bool json, std::vector<TensorPlace> dumps,
           Json& events)
      : debugger_(debugger),
        json_(json),
        timed_(debugger.runner().order() == Order::kTimed),
        dumps_(std::move(dumps)),
        events_(events) {
    if (json_) events_ = Json::array();
  }

  void Show(const DebugStop& stop) {
    stop.kind == DebugStop::Kind::kBreak ? ShowBreak(stop) : ShowWatch(stop);
  }
  std::string Describe(const DebugStop& stop) const {
    return Cat(EffectText(stop),
               DescribeInstruction(debugger_.runner().program(), stop.core,
                                   *stop.instruction));
  }

 private:
  std::string At(Ticks time) const {
    return timed_ ? Cat(", at ", TimeText(time)) : std::string();
  }
  void AddWho(Json& json, const DebugStop& stop, Ticks time) const {
    const Program& program = debugger_.runner().program();
    const Instruction& i = *stop.instruction;
    json["core"] = stop.core;
    json["instruction"] = i.order;
    json["operation"] = program.operations[i.operation];
    json["engine"] = std::string(Name(i.engine));
    json["source"] = program.DescribeSource(i.source);
    json["time_ns"] =
        timed_ ? Json(static_cast<double>(time) / kTicksPerNs) : Json(nullptr);
  }
  void ShowBreak(const DebugStop& stop) {
    if (json_) {
      Json event;
      event["kind"] = "break";
      AddWho(event, stop, debugger_.time());
      event.update(StateJson(debugger_, dumps_));
      events_.push_back(std::move(event));
      return;
    }
    DebugStop before = stop;
    before.part = -1;
    Print(Cat("break before ", Describe(before), At(debugger_.time()), "\n"));
    PrintState(debugger_, dumps_);
  }
  void ShowWatch(const DebugStop& stop) {
    for (const WatchHit& hit : stop.hits) {
      const std::string before =
          hit.was_written ? HitValue(hit, hit.before) : "(not all written)";
      if (json_) {
        Json event;
        event["kind"] = "watch";
        event["place"] = hit.place;
        event["old"] = HexText(hit.before);
        event["old_was_written"] = hit.was_written;
        event["new"] = HexText(hit.after);
        event["part"] = stop.part < 0 ? Json(nullptr) : Json(stop.part);
        AddWho(event, stop, stop.time);
        events_.push_back(std::move(event));
        continue;
      }
      Print(Cat("watch ", hit.place, ": ", before, " -> ",
                HitValue(hit, hit.after), ", by ", Describe(stop),
                At(stop.time), "\n"));
    }
  }

  const Debugger& debugger_;
  const bool json_, timed_;
  std::vector<TensorPlace> dumps_;
  Json& events_;
};

absl::Status Stopped(const DebugStop& stop, const Program& program,
                     const std::string& description) {
  const Instruction& i = *stop.instruction;
  Diagnostic d;
  d.category = Category::kLimit;
  d.id = "debug.stopped";
  d.instruction = i.order;
  d.operation = program.operations[i.operation];
  d.opcode = Info(i.opcode).name;
  d.engine = Name(i.engine);
  d.source = program.DescribeSource(i.source);
  d.core = static_cast<int>(stop.core);
  d.message =
      Cat("--stop ended the run at ", description, "; there are no outputs");
  d.remedy = "leave --stop out to print and go on";
  return ToStatus(std::move(d));
}

}  // namespace

absl::StatusOr<RunResult> RunExplore(const RunArgs& args,
                                     Executable& executable,
                                     const Inputs& inputs,
                                     const RunOptions& options,
                                     Progress& progress) {
  return Explore(executable, inputs, options, *args.explore,
                 ReplayCommand(args), [&](int64_t seed) {
                   progress.Say(Cat("running ", args.program, ", schedule ",
                                    seed, " of ", *args.explore));
                 });
}

absl::StatusOr<RunResult> RunDebugged(const RunArgs& args,
                                      Executable& executable,
                                      const Inputs& inputs,
                                      const RunOptions& options,
                                      Progress& progress, Json& events) {
  auto debugger = Debugger::Start(executable, inputs, options);
  if (!debugger.ok()) return debugger.status();
  for (const std::string& text : args.breaks) {
    if (auto id = (*debugger)->Break(text); !id.ok()) return id.status();
  }
  for (const std::string& text : args.watches) {
    if (auto id = (*debugger)->Watch(text); !id.ok()) return id.status();
  }
  std::vector<TensorPlace> dumps;
  for (const std::string& text : args.dumps) {
    auto place = ParseTensorPlace(text, executable.program());
    if (!place.ok()) return place.status();
    dumps.push_back(*std::move(place));
  }
  progress.Stop();  // what is printed is progress
  Reporter reporter(**debugger, args.json, std::move(dumps), events);
  for (;;) {
    const auto stop = (*debugger)->Continue();
    if (!stop.ok()) return stop.status();
    if (stop->kind == DebugStop::Kind::kEnd) return (*debugger)->Result();
    reporter.Show(*stop);
    if (args.stop) {
      return Stopped(*stop, executable.program(), reporter.Describe(*stop));
    }
  }
}

}  // namespace trnemu::cli
