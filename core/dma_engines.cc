#include "core/dma_engines.h"

#include <algorithm>
#include <array>
#include <limits>

namespace trnemu {
namespace {

constexpr Ticks kNever = std::numeric_limits<Ticks>::max();

// The first unfinished job of each queue: those that have started, and when
// the next of the others does.
template <typename Job>
struct Heads {
  std::array<Job*, kDmaQueues> running;
  size_t count = 0;
  Ticks next_start = kNever;
  bool any = false;

  Heads(std::vector<Job>& jobs, Ticks at) {
    std::array<uint32_t, kDmaQueues> seen;
    size_t queues = 0;
    for (Job& job : jobs) {
      const auto end = seen.begin() + static_cast<ptrdiff_t>(queues);
      if (job.left == 0 || std::find(seen.begin(), end, job.queue) != end) {
        continue;
      }
      if (queues == kDmaQueues) break;
      any = true;
      seen[queues++] = job.queue;
      if (job.start <= at) {
        running[count++] = &job;
      } else {
        next_start = std::min(next_start, job.start);
      }
    }
  }
};

}  // namespace

void DmaEngines::Serve(std::vector<Running>& jobs, Ticks& at, Ticks until) {
  while (at < until) {
    const Heads<Running> heads(jobs, at);
    if (!heads.any) return;
    if (heads.count == 0) {
      at = std::min(until, heads.next_start);
      continue;
    }
    Ticks shares = 0;
    for (size_t i = 0; i < heads.count; ++i) shares += heads.running[i]->weight;
    // Turns until the first is done, were nothing to change.
    Ticks least = kNever;
    for (size_t i = 0; i < heads.count; ++i) {
      const Running& job = *heads.running[i];
      least = std::min(least, (job.left + job.weight - 1) / job.weight);
    }
    const Ticks longest = std::min(until, heads.next_start) - at;
    const Ticks step = least > longest / shares ? longest : least * shares;
    at += step;
    for (size_t i = 0; i < heads.count; ++i) {
      Running& job = *heads.running[i];
      if (job.left == job.busy) job.times.taken = at - step;
      job.left -= std::min(job.left, step / shares * job.weight);
      if (job.left == 0) job.times.end = at;
    }
  }
}

void DmaEngines::Advance(OneEngine& engine, Ticks now) {
  auto& jobs = engine.jobs;
  if (engine.shared) {
    Serve(jobs, engine.at, now);
    std::erase_if(jobs, [](const Running& job) { return job.left == 0; });
    engine.at = now;
    engine.shared = std::any_of(
        jobs.begin(), jobs.end(),
        [&](const Running& job) { return job.queue != jobs[0].queue; });
    return;
  }
  // One after the other, with known ends.
  size_t gone = 0;
  for (; gone < jobs.size() && jobs[gone].times.end <= now; ++gone) {
    engine.at = jobs[gone].times.end;
  }
  jobs.erase(jobs.begin(), jobs.begin() + static_cast<ptrdiff_t>(gone));
  if (jobs.empty()) engine.at = now;
}

// To the only queue there is: nothing else moves.
DmaEngines::Times DmaEngines::Append(OneEngine& engine, Running job) {
  auto& jobs = engine.jobs;
  Times& t = job.times;
  t.taken = std::max(job.start, engine.at);
  if (!jobs.empty()) {
    t.taken = std::max(job.start, jobs.back().times.end);
    t.done = jobs.back().times.done;
  }
  t.end = t.taken + job.busy;
  t.done = std::max(t.done, t.end + job.extra);
  jobs.push_back(job);
  return t;
}

// To an engine that stands at this moment, where queues take turns.
DmaEngines::Times DmaEngines::Share(OneEngine& engine, const Running& job,
                                    std::vector<Delay>& delays) {
  auto& jobs = engine.jobs;
  engine.shared = true;
  jobs.push_back(job);
  scratch_ = jobs;
  Ticks at = engine.at;
  Serve(scratch_, at, kNever);
  for (size_t i = 0; i < jobs.size(); ++i) {
    Running& r = jobs[i];
    Times times = r.times;
    if (r.left > 0) {
      times.taken = scratch_[i].times.taken;
      times.end = scratch_[i].times.end;
    }
    times.done = std::max(times.done, times.end + r.extra);
    for (size_t k = 0; k < i; ++k) {
      if (jobs[k].queue == r.queue) {
        times.done = std::max(times.done, jobs[k].times.done);
      }
    }
    if (i + 1 < jobs.size() &&
        (times.done > r.times.done || times.end > r.times.end ||
         times.taken > r.times.taken)) {
      delays.push_back({r.transfer, r.part, times});
    }
    r.times = times;
  }
  return jobs.back().times;
}

DmaEngines::Times DmaEngines::AddTo(OneEngine& engine, Ticks now,
                                    const DmaJob& job,
                                    std::vector<Delay>& delays) {
  now = std::max(now, engine.at);
  Advance(engine, now);
  Running added{job, 0, {}};
  added.left = added.busy = std::max<Ticks>(1, job.busy);
  if (engine.shared) return Share(engine, added, delays);
  if (engine.jobs.empty() || engine.jobs[0].queue == job.queue) {
    return Append(engine, added);
  }
  Serve(engine.jobs, engine.at, now);
  engine.at = now;
  return Share(engine, added, delays);
}

void DmaEngines::Separate() {
  for (size_t e = 1; e < engines_.size(); ++e) {
    engines_[e] = engines_[0];
    for (Running& job : engines_[e].jobs) {
      job.part = static_cast<int32_t>(e);
      job.queue += static_cast<uint32_t>(e);
    }
  }
  alike_ = false;
}

DmaEngines::Times DmaEngines::Add(size_t index, Ticks now, const DmaJob& job,
                                  std::vector<Delay>& delays) {
  if (alike_) Separate();
  return AddTo(engines_[index], now, job, delays);
}

bool DmaEngines::AddToEach(Ticks now, const DmaJob& job, Times& times,
                           std::vector<Delay>& delays) {
  if (!alike_) {
    // Engines that have nothing to do are alike again.
    for (OneEngine& engine : engines_) {
      Advance(engine, std::max(now, engine.at));
      if (!engine.jobs.empty()) return false;
    }
    alike_ = true;
  }
  times = AddTo(engines_[0], now, job, delays);
  return true;
}

}  // namespace trnemu
