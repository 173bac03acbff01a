#include "cluster/project_number.h"

#include <algorithm>
#include <charconv>

#include "base/fnv1a.h"

namespace trainyard::cluster {
namespace {

constexpr std::size_t kDigitsMax = 18;  // fits 64 bits

std::string Account(std::string_view project, std::string_view domain) {
  std::string account = "service-" + std::to_string(ProjectNumber(project)) + "@";
  return account.append(domain).append(".iam.gserviceaccount.com");
}

}  // namespace

std::int64_t ProjectNumber(std::string_view project) {
  const bool is_number = !project.empty() && project.size() <= kDigitsMax && project[0] != '0' &&
                         std::ranges::all_of(project, [](char c) { return c >= '0' && c <= '9'; });
  if (is_number) {
    std::int64_t number = 0;
    std::from_chars(project.data(), project.data() + project.size(), number);
    return number;
  }
  constexpr std::uint64_t kFirst = 100'000'000'000;
  return static_cast<std::int64_t>(kFirst + Fnv1a(project) % (9 * kFirst));
}

std::string ServiceAccount(std::string_view project) { return Account(project, "cloud-ml.google.com"); }

std::string TpuServiceAccount(std::string_view project) { return Account(project, "cloud-tpu"); }

}  // namespace trainyard::cluster
