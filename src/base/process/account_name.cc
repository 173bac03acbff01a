#include "base/process/account_name.h"

#include <pwd.h>

#include <array>

namespace trainyard {

namespace {

constexpr std::size_t kAccountBytesMax = 16384;

}  // namespace

std::string AccountName(uid_t uid) {
  std::array<char, kAccountBytesMax> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const int failed = ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  return failed == 0 && found != nullptr ? found->pw_name : "";
}

}  // namespace trainyard
