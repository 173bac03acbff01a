#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::identity {

struct ProjectNumber {
  std::string project;
  std::int64_t number = 0;
};

/// The numbers of projects. No two projects have the same number, and a number is never taken back. A value.
class ProjectNumbers {
 public:
  static constexpr std::size_t kKeptMax =
      100'000;  ///< further projects are shown a number that identifies nobody

  [[nodiscard]] std::optional<std::int64_t> Of(std::string_view project) const;
  /// Null: no project has the number.
  [[nodiscard]] const std::string* ProjectOf(std::int64_t number) const;
  [[nodiscard]] bool IsFull() const noexcept { return numbers_.size() >= kKeptMax; }
  /// Does nothing if the project already has a number, or another project has this one.
  void Keep(const ProjectNumber& kept);

  /// A free number for a project without one. Computed with the secret, so that nobody can find a name that
  /// has a given number, and so that the same number results again if a power cut prevents writing it.
  [[nodiscard]] ProjectNumber Choose(std::string_view secret, std::string_view project) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> numbers_;
  std::map<std::int64_t, std::string> projects_;
};

/// The numbers of projects from before numbers were stored: the same as they had (cluster::HashedNumber),
/// except that of two projects with the same number one gets another: the one whose name is a number, if only
/// one is.
[[nodiscard]] std::vector<ProjectNumber> NumbersFromBefore(
    ProjectNumbers known, std::string_view secret, const std::set<std::string, std::less<>>& projects);

}  // namespace trainyard::identity
