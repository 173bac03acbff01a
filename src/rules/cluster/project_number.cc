#include "rules/cluster/project_number.h"

#include <algorithm>
#include <charconv>

#include "base/fnv1a.h"

namespace trainyard::cluster {
namespace {

constexpr std::size_t kDigitsMax = 18;  // fits 64 bits
constexpr std::string_view kAccount = "service-";
constexpr std::uint64_t kFirst = 100'000'000'000;

std::string Account(std::int64_t number, std::string_view domain) {
  std::string account(kAccount);
  return account.append(std::to_string(number)).append("@").append(domain).append(".iam.gserviceaccount.com");
}

/// Reads a number without leading zeros.
std::optional<std::int64_t> ReadNumber(std::string_view digits) {
  const bool is_number = !digits.empty() && digits.size() <= kDigitsMax && digits[0] != '0' &&
                         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return std::nullopt;
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::optional<std::int64_t> NumberIn(std::string_view email) {
  if (!email.starts_with(kAccount)) return std::nullopt;
  email.remove_prefix(kAccount.size());
  return ReadNumber(email.substr(0, email.find('@')));
}

}  // namespace

std::int64_t HashedNumber(std::string_view project) {
  return ReadNumber(project).value_or(NumberFrom(Fnv1a(project)));
}

std::int64_t NumberFrom(std::uint64_t bits) {
  return static_cast<std::int64_t>(kFirst + bits % (9 * kFirst));
}

std::string ServiceAccount(std::int64_t number) { return Account(number, "cloud-ml.google.com"); }

std::string TpuServiceAccount(std::int64_t number) { return Account(number, "cloud-tpu"); }

std::optional<std::int64_t> NumberOfServiceAccount(std::string_view email) {
  const std::optional<std::int64_t> number = NumberIn(email);
  return number && email == ServiceAccount(*number) ? number : std::nullopt;
}

std::optional<std::int64_t> NumberOfTpuServiceAccount(std::string_view email) {
  const std::optional<std::int64_t> number = NumberIn(email);
  return number && email == TpuServiceAccount(*number) ? number : std::nullopt;
}

}  // namespace trainyard::cluster
