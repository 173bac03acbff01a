#include "control/testing/coverage.h"

#include <iterator>
#include <span>

#include "base/check.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::control {
namespace {

std::size_t RowOf(const JobHistory::Entry& entry) {
  const jobs::Transition* const row = jobs::FindTransition(entry.before, entry.event);
  TY_CHECK(row != nullptr);
  return static_cast<std::size_t>(row - jobs::Transitions().data());
}

std::string NameOf(const jobs::Transition& row) {
  return std::string(jobs::StageName(row.from)) + " " + std::string(jobs::EventName(row.event));
}

/// The faults that the row was never met with.
std::string Missing(const Coverage& coverage, std::size_t row) {
  std::string names;
  for (std::size_t fault = 0; fault < Faults().size(); ++fault) {
    if (coverage.pairs[row][fault] != 0) continue;
    if (!names.empty()) names += "; ";
    names += Faults()[fault]->name;
  }
  return names;
}

}  // namespace

void Coverage::AddJob(const JobHistory& history, const std::vector<SysTime>& times, SysTime asked_at,
                      const FaultLog& faults) {
  TY_CHECK(jobs::Transitions().size() <= kRowsMax && Faults().size() <= kFaultsMax);
  SysTime since = asked_at;
  for (std::size_t i = 0; i < history.entries.size(); ++i) {
    const std::size_t row = RowOf(history.entries[i]);
    if (i > 0 && times[i] > times[i - 1]) since = times[i - 1];
    ++rows[row];
    for (std::size_t fault = 0; fault < Faults().size(); ++fault) {
      bool is_met = false;
      for (const FaultLog::Fault& happened : faults.all())
        is_met |= happened.action == Faults()[fault] && happened.begin <= times[i] && happened.end >= since;
      if (is_met) ++pairs[row][fault];
    }
  }
}

void Coverage::Add(const Coverage& other) {
  for (std::size_t row = 0; row < kRowsMax; ++row) {
    rows[row] += other.rows[row];
    for (std::size_t fault = 0; fault < kFaultsMax; ++fault) pairs[row][fault] += other.pairs[row][fault];
  }
  supervisors.Add(other.supervisors);
}

std::vector<std::string> PrintCoverage(const Coverage& coverage) {
  const std::span<const jobs::Transition> rows = jobs::Transitions();
  std::vector<std::string> lines = engine::PrintCoverage(coverage.supervisors);
  std::size_t met = 0;
  std::size_t pairs = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (coverage.rows[row] == 0) {
      lines.push_back("never met: " + NameOf(rows[row]));
      continue;
    }
    ++met;
    for (std::size_t fault = 0; fault < Faults().size(); ++fault) pairs += coverage.pairs[row][fault] != 0;
    const std::string missing = Missing(coverage, row);
    if (missing.empty()) continue;
    lines.push_back("met " + std::to_string(coverage.rows[row]) +
                    " times, but never with a fault of these: " + NameOf(rows[row]) + ": " + missing);
  }
  lines.push_back("coverage: " + std::to_string(met) + " of " + std::to_string(rows.size()) +
                  " rows of the table of transitions; " + std::to_string(pairs) + " of " +
                  std::to_string(rows.size() * Faults().size()) + " pairs of a row and a kind of fault");
  return lines;
}

}  // namespace trainyard::control
