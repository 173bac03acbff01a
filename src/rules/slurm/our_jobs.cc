#include "rules/slurm/our_jobs.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trainyard::slurm {

OurJobs OursOf(std::string_view installation, std::vector<ListedJob> list) {
  std::vector<std::pair<Submission, std::size_t>> order;  // and the place in the list
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::optional<Submission> whose = ParseNames(installation, list[i].name, list[i].comment);
    if (whose) order.emplace_back(*whose, i);
  }
  std::ranges::sort(order);
  OurJobs ours;
  ours.whose.reserve(order.size());
  ours.jobs.reserve(order.size());
  for (const auto& [whose, place] : order) {
    ours.whose.push_back(whose);
    ours.jobs.push_back(std::move(list[place]));
  }
  return ours;
}

}  // namespace trainyard::slurm
