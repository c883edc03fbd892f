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
    Ticks least = kNever;
    for (size_t i = 0; i < heads.count; ++i) {
      least = std::min(least, heads.running[i]->left);
    }
    const auto share = static_cast<Ticks>(heads.count);
    const Ticks step =
        std::min({least * share, until - at, heads.next_start - at});
    at += step;
    for (size_t i = 0; i < heads.count; ++i) {
      Running& job = *heads.running[i];
      job.left -= step / share;
      if (job.left == 0) job.end = at;
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
  for (; gone < jobs.size() && jobs[gone].end <= now; ++gone) {
    engine.at = jobs[gone].end;
  }
  jobs.erase(jobs.begin(), jobs.begin() + static_cast<ptrdiff_t>(gone));
  if (jobs.empty()) engine.at = now;
}

// To the only queue there is: nothing else moves.
Ticks DmaEngines::Append(OneEngine& engine, Running job) {
  auto& jobs = engine.jobs;
  job.end = std::max(job.start, engine.at) + job.busy;
  if (!jobs.empty()) {
    job.end = std::max(job.start, jobs.back().end) + job.busy;
    job.done = jobs.back().done;
  }
  job.done = std::max(job.done, job.end + job.extra);
  jobs.push_back(job);
  return job.done;
}

// To an engine that stands at this moment, where queues take turns.
Ticks DmaEngines::Share(OneEngine& engine, const Running& job,
                        std::vector<Delay>& delays) {
  auto& jobs = engine.jobs;
  engine.shared = true;
  jobs.push_back(job);
  scratch_ = jobs;
  Ticks at = engine.at;
  Serve(scratch_, at, kNever);
  for (size_t i = 0; i < jobs.size(); ++i) {
    Running& r = jobs[i];
    if (r.left > 0) r.end = scratch_[i].end;
    Ticks done = std::max(r.done, r.end + r.extra);
    for (size_t k = 0; k < i; ++k) {
      if (jobs[k].queue == r.queue) done = std::max(done, jobs[k].done);
    }
    if (i + 1 < jobs.size() && done > r.done) {
      delays.push_back({r.transfer, r.part, done});
    }
    r.done = done;
  }
  return jobs.back().done;
}

Ticks DmaEngines::AddTo(OneEngine& engine, Ticks now, const DmaJob& job,
                        std::vector<Delay>& delays) {
  now = std::max(now, engine.at);
  Advance(engine, now);
  const Running added{job, job.busy, 0, 0};
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

Ticks DmaEngines::Add(size_t index, Ticks now, const DmaJob& job,
                      std::vector<Delay>& delays) {
  if (alike_) Separate();
  return AddTo(engines_[index], now, job, delays);
}

bool DmaEngines::AddToEach(Ticks now, const DmaJob& job, Ticks& done,
                           std::vector<Delay>& delays) {
  if (!alike_) {
    // Engines that have nothing to do are alike again.
    for (OneEngine& engine : engines_) {
      Advance(engine, std::max(now, engine.at));
      if (!engine.jobs.empty()) return false;
    }
    alike_ = true;
  }
  done = AddTo(engines_[0], now, job, delays);
  return true;
}

}  // namespace trnemu
