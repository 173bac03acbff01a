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

struct KeptNumber {
  std::string project;
  std::int64_t number = 0;
};

/// The numbers that projects were given. No two projects have the same, and none is ever taken back. A value.
class ProjectNumbers {
 public:
  static constexpr std::size_t kKeptMax =
      100'000;  ///< further projects are told a number, and it means nobody

  [[nodiscard]] std::optional<std::int64_t> Of(std::string_view project) const;
  /// Null: nobody's.
  [[nodiscard]] const std::string* ProjectOf(std::int64_t number) const;
  [[nodiscard]] bool IsFull() const noexcept { return numbers_.size() >= kKeptMax; }
  /// Nothing happens if the project has one, or another project has it.
  void Keep(const KeptNumber& kept);

  /// A free number for a project without one: by the secret, so that nobody can find a name for a number, and
  /// the same again if a power cut takes it back before it is written.
  [[nodiscard]] KeptNumber Choose(std::string_view secret, std::string_view project) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> numbers_;
  std::map<std::int64_t, std::string> projects_;
};

/// Those for projects from before numbers were kept: as they were (cluster::HashedNumber), but where two have
/// the same. Names that are numbers give way to others.
[[nodiscard]] std::vector<KeptNumber> NumbersFromBefore(ProjectNumbers known, std::string_view secret,
                                                        const std::set<std::string, std::less<>>& projects);

}  // namespace trainyard::identity
