#include "stores/identity/project_numbers.h"

#include <algorithm>
#include <cstring>

#include "rules/cluster/project_number.h"
#include "stores/identity/token_text.h"

namespace trainyard::identity {
namespace {

bool IsNumber(std::string_view project) {
  return std::ranges::all_of(project, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<std::int64_t> ProjectNumbers::Of(std::string_view project) const {
  const auto found = numbers_.find(project);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

const std::string* ProjectNumbers::ProjectOf(std::int64_t number) const {
  const auto found = projects_.find(number);
  return found == projects_.end() ? nullptr : &found->second;
}

void ProjectNumbers::Keep(const ProjectNumber& kept) {
  if (numbers_.contains(kept.project) || !projects_.emplace(kept.number, kept.project).second) return;
  numbers_.emplace(kept.project, kept.number);
}

ProjectNumber ProjectNumbers::Choose(std::string_view secret, std::string_view project) const {
  ProjectNumber kept{.project = std::string(project)};
  for (int turn = 0;; ++turn) {
    std::string text = std::to_string(turn).append("/");
    const TokenHash hash = HashOf(text.append(secret).append("/").append(project));
    std::uint64_t bits = 0;
    std::memcpy(&bits, hash.data(), sizeof bits);
    kept.number = cluster::NumberFrom(bits);
    // Not a number that is another project's name, either.
    if (!projects_.contains(kept.number) && !numbers_.contains(std::to_string(kept.number))) return kept;
  }
}

std::vector<ProjectNumber> NumbersFromBefore(ProjectNumbers known, std::string_view secret,
                                             const std::set<std::string, std::less<>>& projects) {
  std::vector<ProjectNumber> given;
  for (const bool are_numbers : {false, true}) {
    for (const std::string& project : projects) {
      if (IsNumber(project) != are_numbers || known.Of(project)) continue;
      ProjectNumber kept{.project = project, .number = cluster::HashedNumber(project)};
      if (known.ProjectOf(kept.number) != nullptr) kept = known.Choose(secret, project);
      known.Keep(kept);
      given.push_back(std::move(kept));
    }
  }
  return given;
}

}  // namespace trainyard::identity
