#include "net/access/account_rules.h"

namespace trainyard::access {

namespace {

constexpr std::uint32_t kRoot = 0;

std::string Shown(const AllowedAccounts& accounts) {
  std::string text = "uid " + std::to_string(accounts.own_uid);
  if (!accounts.own_name.empty()) text = accounts.own_name + " (" + text + ")";
  return text;
}

}  // namespace

bool IsAnswered(std::uint32_t uid, const AllowedAccounts& accounts) noexcept {
  return uid == accounts.own_uid || uid == kRoot || (accounts.job_uids && accounts.job_uids->Has(uid));
}

Error AccountRefusal(std::optional<std::uint32_t> uid, const AllowedAccounts& accounts) {
  std::string message = "This server only accepts requests of the account that runs it, " + Shown(accounts);
  if (accounts.own_uid != kRoot) message += ", and of root";
  message += uid ? "; this request comes from uid " + std::to_string(*uid)
                 : "; the system does not know which account sent this request";
  message +=
      ". Send the request as that account, or start the server with --allow-local-users, which lets every "
      "account of this machine run programs as it, or with authentication (--auth on)";
  return {Code::kPermissionDenied, std::move(message), ""};
}

Error ForwardedRefusal() {
  return {Code::kPermissionDenied,
          "A proxy forwarded this request, as its address or a field such as X-Forwarded-For shows, so the "
          "sender's account is not known. Send the request directly to the server, or start the server with "
          "authentication (--auth on), so that senders show a token",
          ""};
}

}  // namespace trainyard::access
