#include "server/options/access_options.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace trainyard::server {

namespace {

constexpr std::int64_t kDaysMax = 36'500;
constexpr std::int64_t kBytesMin = std::int64_t{1} << 20;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 50;

}  // namespace

void AccessFlags::AddTo(CLI::App& app) {
  app.add_option(
         "--trusted-proxy", trusted_proxies_,
         "proxy, or range of them, whose X-Forwarded-For and X-Forwarded-Proto are believed: the audit "
         "log then has the client's address, and links its scheme; may be given several times")
      ->type_name("ADDRESS[/BITS]")
      ->allow_extra_args(false);
  app.add_option("--audit-days", audit_days_, "days that the audit log is kept (there is one with --auth on)")
      ->check(CLI::Range(std::int64_t{1}, kDaysMax).description(""))
      ->type_name("DAYS")
      ->capture_default_str();
  app.add_option("--audit-bytes", audit_bytes_,
                 "bytes that the audit log may have; beyond them its oldest files go before their time")
      ->check(CLI::Range(kBytesMin, kBytesMax).description(""))
      ->type_name("BYTES")
      ->capture_default_str();
}

Status AccessFlags::ReadInto(AccessOptions& options) const {
  for (const std::string& text : trusted_proxies_) {
    Result<access::AddressRange> range = access::ParseAddressRange(text);
    if (!range) return std::unexpected(InvalidArgument("--trusted-proxy", range.error().message));
    options.trusted_proxies.push_back(*std::move(range));
  }
  options.audit = {.days_max = std::chrono::days(audit_days_), .bytes_max = audit_bytes_};
  return {};
}

}  // namespace trainyard::server
