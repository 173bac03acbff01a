#include "rules/iam/principal.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/ascii.h"

namespace trainyard::iam {
namespace {

constexpr std::size_t kEmailBytesMax = 254;  // RFC 5321, section 4.5.3.1.3, less the angle brackets
constexpr std::size_t kAccountIdBytesMin = 6;
constexpr std::size_t kAccountIdBytesMax = 30;
constexpr std::string_view kUser = "user:";
constexpr std::array kKinds{kUser, kServiceAccountPrefix};
constexpr std::string_view kServiceAccountDomain = ".iam.gserviceaccount.com";

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// RFC 5322 allows more characters. These need no quotes in a shell, because error messages contain commands
/// with principals.
bool IsLocalCharacter(char c) {
  return IsLower(c) || IsDigit(c) || c == '.' || c == '_' || c == '%' || c == '+' || c == '-';
}
/// '_' is allowed because project ids of this server may have one, and e-mails of service accounts contain
/// the project id.
bool IsDomainCharacter(char c) { return IsLower(c) || IsDigit(c) || c == '.' || c == '-' || c == '_'; }

bool IsDomain(std::string_view domain) {
  if (domain.empty() || domain.find("..") != std::string_view::npos) return false;
  const auto is_end = [](char c) { return IsLower(c) || IsDigit(c); };
  return is_end(domain.front()) && is_end(domain.back()) && std::ranges::all_of(domain, IsDomainCharacter);
}

/// Whether it is an e-mail in lower case.
bool IsEmail(std::string_view email) {
  const std::size_t at = email.find('@');
  if (at == std::string_view::npos || at == 0 || email.size() > kEmailBytesMax) return false;
  // A '-' in front would read as a flag in a command.
  const std::string_view local = email.substr(0, at);
  return local.front() != '-' && std::ranges::all_of(local, IsLocalCharacter) &&
         IsDomain(email.substr(at + 1));
}

bool IsAccountId(std::string_view id) {
  if (id.size() < kAccountIdBytesMin || id.size() > kAccountIdBytesMax) return false;
  const auto is_character = [](char c) { return IsLower(c) || IsDigit(c) || c == '-'; };
  return IsLower(id.front()) && id.back() != '-' && std::ranges::all_of(id, is_character);
}

/// "service-NUMBER": the form of accounts that the service manages itself.
bool IsManaged(std::string_view id) {
  constexpr std::string_view kManaged = "service-";
  return id.starts_with(kManaged) && std::ranges::all_of(id.substr(kManaged.size()), IsDigit);
}

/// Whether the project id can be used unchanged in a domain, so that no two projects share an e-mail and none
/// has a service agent's.
bool IsProjectOfAccounts(std::string_view project) {
  const auto is_character = [](char c) { return IsLower(c) || IsDigit(c) || c == '-' || c == '_'; };
  return !project.empty() && std::ranges::all_of(project, is_character);
}

}  // namespace

Result<std::string> ParsePrincipal(std::string_view text) {
  for (const std::string_view kind : kKinds) {
    if (!text.starts_with(kind)) continue;
    std::string email = ToLower(text.substr(kind.size()));
    if (!IsEmail(email)) break;
    return std::string(kind).append(email);
  }
  return std::unexpected(InvalidArgument(
      "principal", "[" + std::string(text) + "] is not a principal. Write user:NAME@DOMAIN or " +
                       "serviceAccount:NAME@PROJECT.iam.gserviceaccount.com; names have letters, digits " +
                       "and ._%+-"));
}

std::string_view EmailOf(std::string_view principal) {
  return principal.substr(principal.find(':') + 1);  // npos + 1 is 0: text without a kind is an e-mail
}

std::string ServiceAccountPrincipal(std::string_view email) {
  return std::string(kServiceAccountPrefix).append(ToLower(email));
}

Result<std::string> ServiceAccountEmail(std::string_view account_id, std::string_view project) {
  if (!IsAccountId(account_id)) {
    return std::unexpected(InvalidArgument(
        "account_id", "The account ID \"" + std::string(account_id) +
                          "\" is not 6 to 30 lower case letters, digits and dashes that begin with a letter "
                          "and end with no dash"));
  }
  if (IsManaged(account_id)) {
    return std::unexpected(InvalidArgument("account_id", "The account ID \"" + std::string(account_id) +
                                                             "\" is kept for the service's own accounts"));
  }
  std::string email = std::string(account_id).append("@").append(project).append(kServiceAccountDomain);
  if (IsProjectOfAccounts(project) && IsEmail(email)) return email;
  return std::unexpected(InvalidArgument(
      "project", "The project \"" + std::string(project) +
                     "\" cannot have service accounts: their e-mails have its name, which must be lower case "
                     "letters, digits, dashes and underscores"));
}

}  // namespace trainyard::iam
