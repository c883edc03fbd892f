// trnemu.System: several ranks of a system of chips.
#include "isa/system.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/bench.h"
#include "collectives/cluster.h"
#include "collectives/team.h"
#include "collectives/topology.h"
#include "collectives/trace.h"
#include "frontend/bindings/bindings.h"
#include "frontend/bindings/running.h"

namespace trnemu::bindings {
namespace {

nb::str Word(std::string_view text) {
  return nb::str(text.data(), text.size());
}

double Ns(Ticks t) { return static_cast<double>(t) / kTicksPerNs; }

// What a trace of a run needs besides its ranks' profiles.
struct BoundTrace {
  std::shared_ptr<const Topology> topology;
  std::shared_ptr<const ClusterResult> result;  // without the ranks' results

  std::string Text(const std::vector<BoundProfile*>& profiles,
                   const std::string& name) const {
    std::vector<const ProfileReport*> reports;
    for (const BoundProfile* p : profiles) {
      reports.push_back(p == nullptr ? nullptr : &p->report);
    }
    return ClusterTrace(*topology, *result, reports, name);
  }
};

class BoundSystem {
 public:
  // `text`: a description, of the file that `name` is; empty: of that name.
  BoundSystem(const std::string& name, const std::string& text,
              std::optional<int> ranks, int lnc,
              const std::vector<std::string>& failed) {
    auto system = text.empty() ? FindSystem(name) : ParseSystem(text, name);
    if (!system.ok()) RaiseHere(system.status());
    const int all = lnc > 0 ? (*system)->cores() / lnc : 0;
    auto topology = Topology::Make(*system, ranks.value_or(all), lnc, failed);
    if (!topology.ok()) RaiseHere(topology.status());
    topology_ = *std::move(topology);
  }

  const Topology& topology() const { return *topology_; }

  std::vector<std::vector<int32_t>> Rings(
      const std::vector<int32_t>& group) const;
  nb::tuple Run(const std::vector<BoundProgram*>& programs,
                const nb::list& inputs, const nb::dict& options,
                const nb::dict& cluster, int64_t max_records) const;
  nb::list Collective(const std::string& operation,
                      const nb::dict& given) const;

 private:
  std::shared_ptr<const Topology> topology_;
};

ClusterOptions ReadCluster(const nb::dict& given) {
  ClusterOptions o;
  o.threads = nb::cast<int>(given["threads"]);
  const auto algorithm = nb::cast<std::string>(given["algorithm"]);
  const auto found =
      std::find(kAlgorithmNames.begin(), kAlgorithmNames.end(), algorithm);
  if (found == kAlgorithmNames.end()) {
    std::string list;
    for (std::string_view name : kAlgorithmNames) {
      list += list.empty() ? "" : ", ";
      list += name;
    }
    RaiseValueError("algorithm must be one of " + list + ", not \"" +
                    algorithm + "\"");
  }
  o.algorithm = static_cast<Algorithm>(found - kAlgorithmNames.begin());
  o.packet_bytes = nb::cast<int64_t>(given["packet_bytes"]);
  o.record_links = nb::cast<bool>(given["links"]);
  o.record_moves = o.record_links;
  return o;
}

nb::dict RecordOf(const CollectiveRecord& r) {
  nb::dict d;
  d["operation"] = Word(Name(r.kind));
  d["algorithm"] = Word(Name(r.algorithm));
  d["inside_nodes"] = Word(Name(r.inside_nodes));
  d["between_nodes"] = Word(Name(r.between_nodes));
  d["dtype"] = Word(r.dtype == Dtype::kInvalid ? "none" : Name(r.dtype));
  d["ranks"] = nb::tuple(nb::cast(r.ranks));
  d["stream"] = r.stream;
  d["bytes"] = r.bytes;
  d["steps"] = r.steps;
  d["channels"] = r.channels;
  d["moves"] = r.moves;
  d["hbm_read_bytes"] = r.hbm_read;
  d["hbm_write_bytes"] = r.hbm_written;
  d["link_bytes"] = r.link_bytes;
  d["first_trigger_ns"] = Ns(r.first_trigger);
  d["last_trigger_ns"] = Ns(r.last_trigger);
  d["start_ns"] = Ns(r.start);
  d["end_ns"] = Ns(r.end);
  d["source"] = r.source;
  return d;
}

nb::dict InfoOf(const Topology& topology, const ClusterResult& result) {
  nb::list collectives;
  for (const CollectiveRecord& r : result.collectives) {
    collectives.append(RecordOf(r));
  }
  nb::list links;
  for (const LinkRecord& r : result.links) {
    links.append(nb::make_tuple(
        topology.links()[static_cast<size_t>(r.link)].name, r.collective,
        r.from_rank, r.to_rank, r.step, Ns(r.start), Ns(r.end), r.bytes));
  }
  nb::dict info;
  info["time_ns"] = result.time_ns;
  info["threads"] = result.threads;
  info["collectives"] = collectives;
  info["links"] = links;
  return info;
}

std::vector<std::vector<int32_t>> BoundSystem::Rings(
    const std::vector<int32_t>& group) const {
  const auto shape = topology_->ShapeOf(group);
  if (!shape.ok()) Raise(shape.status());
  const plans::Team team = plans::WholeTeam(*shape);
  std::vector<std::vector<int32_t>> rings;
  for (const auto& cycle : team.cycles) {
    auto& ring = rings.emplace_back();
    for (const int32_t chip : cycle) {
      for (const int32_t p : team.chips[static_cast<size_t>(chip)]) {
        ring.push_back(
            group[static_cast<size_t>(team.member[static_cast<size_t>(p)])]);
      }
    }
  }
  return rings;
}

nb::tuple BoundSystem::Run(const std::vector<BoundProgram*>& given_programs,
                           const nb::list& given_inputs,
                           const nb::dict& given_options,
                           const nb::dict& given_cluster,
                           int64_t max_records) const {
  RunOptions options = ReadOptions(given_options);
  ClusterOptions cluster = ReadCluster(given_cluster);
  std::vector<std::shared_ptr<const Program>> programs;
  for (const BoundProgram* p : given_programs) programs.push_back(p->program);
  std::vector<InputBytes> keep;
  std::vector<Inputs> inputs;
  for (nb::handle one : given_inputs) {
    inputs.push_back(ReadInputs(nb::cast<nb::list>(one), keep));
  }
  std::vector<std::shared_ptr<Timeline>> timelines;
  for (int r = 0; max_records > 0 && r < topology_->ranks(); ++r) {
    timelines.push_back(std::make_shared<Timeline>(max_records));
    cluster.timelines.push_back(timelines.back().get());
    cluster.record_links = cluster.record_moves = true;
  }
  SignalCheck signals;
  options.interrupted = [&signals] { return signals(); };
  absl::StatusOr<ClusterResult> result;
  {
    const nb::gil_scoped_release release;
    result = RunCluster(topology_, programs, inputs, options, cluster);
  }
  signals.Rethrow();
  if (!result.ok()) Raise(result.status());
  const nb::dict info = InfoOf(*topology_, *result);
  nb::list profiles;
  for (size_t r = 0; r < timelines.size(); ++r) {
    const auto& program = programs[programs.size() == 1 ? 0 : r];
    BoundProfile profile;
    const std::shared_ptr<const Hardware> hardware(
        &HardwareFor(program->target), [](const Hardware*) {});
    profile.report =
        MakeProfileReport(program, hardware, timelines[r],
                          result->ranks[r].profile.end, program->name);
    profiles.append(nb::cast(std::move(profile)));
  }
  nb::list results;
  for (RunResult& one : result->ranks) {
    results.append(nb::cast(BoundResult{std::move(one), {}}));
  }
  result->ranks.clear();
  const bool traced = cluster.record_moves;
  return nb::make_tuple(
      results, info, profiles,
      traced ? nb::cast(BoundTrace{
                   topology_,
                   std::make_shared<const ClusterResult>(*std::move(result))})
             : nb::none());
}

nb::dict RowOf(const CollectiveRow& r) {
  nb::dict d;
  d["size"] = r.size;
  d["bytes"] = r.bytes;
  d["asked"] = Word(Name(r.asked));
  d["algorithm"] = Word(Name(r.algorithm));
  d["inside_nodes"] = Word(Name(r.inside_nodes));
  d["between_nodes"] = Word(Name(r.between_nodes));
  d["steps"] = r.steps;
  d["channels"] = r.channels;
  d["moves"] = r.moves;
  d["time_ns"] = r.time_ns;
  d["algbw"] = r.algbw;
  d["busbw"] = r.busbw;
  d["hbm_read_bytes"] = r.hbm_read;
  d["hbm_write_bytes"] = r.hbm_written;
  d["link_bytes"] = r.link_bytes;
  d["max_error"] = r.max_error;
  d["error_bound"] = r.error_bound;
  return d;
}

// `given`: the dictionary of trnemu._collective.collective.
nb::list BoundSystem::Collective(const std::string& operation,
                                 const nb::dict& given) const {
  CollectiveQuery query;
  query.operation = operation;
  query.topology = topology_;
  query.groups = nb::cast<ReplicaGroups>(given["groups"]);
  if (const auto k = nb::cast<int64_t>(given["group_size"]); k != 0) {
    auto groups = GroupsOfSize(topology_->ranks(), k);
    if (!groups.ok()) RaiseHere(groups.status());
    query.groups = *std::move(groups);
  }
  query.sizes = nb::cast<std::vector<int64_t>>(given["sizes"]);
  for (nb::handle text : nb::cast<nb::list>(given["size_texts"])) {
    const auto sizes = ByteSizesFromText(nb::cast<std::string>(text));
    if (!sizes) {
      RaiseValueError(
          "size must be bytes, \"1MiB\", \"1KiB:1GiB\" or a list of "
          "these, not \"" +
          nb::cast<std::string>(text) + "\"");
    }
    query.sizes.insert(query.sizes.end(), sizes->begin(), sizes->end());
  }
  query.dtype = DtypeFromName(nb::cast<std::string>(given["dtype"]))
                    .value_or(Dtype::kInvalid);
  const auto op = nb::cast<std::string>(given["op"]);
  query.op = op == "add"   ? AluOp::kAdd
             : op == "min" ? AluOp::kMinimum
                           : AluOp::kMaximum;
  query.memory = nb::cast<std::string>(given["memory"]) == "hbm" ? Space::kHbm
                                                                 : Space::kSbuf;
  if (nb::cast<std::string>(given["algorithm"]) == "all") {
    query.algorithms.clear();
  } else {
    query.algorithms = {ReadCluster(given).algorithm};
  }
  query.packet_bytes = nb::cast<int64_t>(given["packet_bytes"]);
  query.threads = nb::cast<int>(given["threads"]);
  query.streams = nb::cast<int>(given["streams"]);
  query.check = nb::cast<bool>(given["check"]);
  query.values = nb::cast<bool>(given["values"]);
  SignalCheck signals;
  query.interrupted = [&signals] { return signals(); };
  absl::StatusOr<std::vector<CollectiveRow>> rows;
  {
    const nb::gil_scoped_release release;
    rows = CollectiveCosts(query);
  }
  signals.Rethrow();
  if (!rows.ok()) RaiseHere(rows.status());
  nb::list list;
  for (const CollectiveRow& row : *rows) list.append(RowOf(row));
  return list;
}

}  // namespace

void BindSystem(nb::module_& m) {
  m.def(
      "system_names", [] { return SystemNames(); },
      "The systems that are described.");
  nb::class_<BoundTrace>(m, "SystemTrace", "What a run of a system leaves.")
      .def("text", &BoundTrace::Text, nb::arg("profiles"), nb::arg("name"));
  nb::class_<BoundSystem>(m, "SystemData", "What trnemu.System is made of.")
      .def(nb::init<const std::string&, const std::string&, std::optional<int>,
                    int, const std::vector<std::string>&>(),
           nb::arg("name"), nb::arg("text"), nb::arg("ranks").none(),
           nb::arg("lnc"), nb::arg("fail_links"))
      .def_prop_ro(
          "name",
          [](const BoundSystem& s) { return s.topology().system().name; })
      .def_prop_ro("target",
                   [](const BoundSystem& s) {
                     return std::string(Name(s.topology().system().target));
                   })
      .def_prop_ro("ranks",
                   [](const BoundSystem& s) { return s.topology().ranks(); })
      .def_prop_ro("lnc",
                   [](const BoundSystem& s) { return s.topology().lnc(); })
      .def_prop_ro(
          "ranks_per_chip",
          [](const BoundSystem& s) { return s.topology().ranks_per_chip(); })
      .def_prop_ro("chips",
                   [](const BoundSystem& s) { return s.topology().chips(); })
      .def_prop_ro("links",
                   [](const BoundSystem& s) {
                     std::vector<std::string> names;
                     for (const Link& link : s.topology().links()) {
                       names.push_back(link.name);
                     }
                     return names;
                   })
      .def("rings", &BoundSystem::Rings, nb::arg("group"))
      .def("run", &BoundSystem::Run,
           nb::sig("def run(self, programs: list[Program], inputs: "
                   "list[list[tuple[str, str, tuple[int, ...], typing.Any]]], "
                   "options: dict[str, typing.Any], cluster: dict[str, "
                   "typing.Any], max_records: int, /) -> "
                   "tuple[list[Result], dict[str, typing.Any], "
                   "list[ProfileData], SystemTrace | None]"))
      .def("collective", &BoundSystem::Collective,
           nb::sig("def collective(self, operation: str, query: dict[str, "
                   "typing.Any], /) -> list[dict[str, typing.Any]]"));
}

}  // namespace trnemu::bindings
