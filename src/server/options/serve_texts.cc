#include "server/options/serve_texts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/wire/host_name.h"
#include "base/wire/resource_name.h"
#include "engine/local/job_users.h"
#include "net/sockets/metrics_address.h"

namespace trainyard::server {
namespace {

/// Parses "HOST:PORT", "[::1]:PORT" or "PORT" alone.
bool SplitListen(const std::string& listen, ServeOptions& options) {
  std::size_t colon = listen.rfind(':');
  std::string host = colon == std::string::npos ? options.host : listen.substr(0, colon);
  std::string port = colon == std::string::npos ? listen : listen.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  char* end = nullptr;
  long number = std::strtol(port.c_str(), &end, 10);
  if (port.empty() || *end != '\0' || number < 0 || number > 65535 || host.empty()) return false;
  options.host = host;
  options.port = static_cast<std::uint16_t>(number);
  return true;
}

Status ReadQuotas(const std::string& request_limits, const std::string& accelerator_quota,
                  ServeOptions& options) {
  auto limits = control::RequestQuota::Limits::Parse(request_limits);
  if (!limits) return std::unexpected(InvalidArgument("--quota-requests", limits.error().message));
  auto quota = jobs::ParseAcceleratorQuota(accelerator_quota);
  if (!quota) return std::unexpected(InvalidArgument("--quota-accelerators", quota.error().message));
  options.request_limits = *limits;
  options.accelerator_quota = *std::move(quota);
  return {};
}

Status ReadHostNames(const std::vector<std::string>& names, ServeOptions& options) {
  for (const std::string& text : names) {
    const std::optional<std::string> name = wire::HostNameOf(text);
    if (!name || text.find(':') != std::string::npos)
      return std::unexpected(
          InvalidArgument("--host-name", "'" + text + "' is not a host's name without a port"));
    options.host_names.push_back(*name);
  }
  return {};
}

Status ReadAccelerators(const std::string& accelerators, const std::string& map, bool declared,
                        ServeOptions& options) {
  if (declared) {
    TY_TRY(options.accelerators, placement::ParseDeclaredDevices(accelerators));
  }
  TY_TRY(options.accelerator_map, placement::AcceleratorMap::Parse(map));
  return {};
}

Status ReadJobUsers(const std::string& text, ServeOptions& options) {
  if (text.empty()) return {};
  const auto users = engine::ParseJobUsers(text);
  if (!users) return std::unexpected(InvalidArgument("--job-users", users.error().message));
  options.job_uids = access::UidRange{.first = users->first, .count = users->count};
  return {};
}

/// Parses a list of "NAME=PATH". Whether the directory exists is checked when the buckets are opened.
Status ReadBucketDirs(const std::vector<std::string>& pairs, ServeOptions& options) {
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    const std::string name = pair.substr(0, equals);
    const std::string path = equals == std::string::npos ? std::string() : pair.substr(equals + 1);
    const auto refused = [&pair](const std::string& why) {
      return std::unexpected(InvalidArgument("--bucket-dir", "'" + pair + "' " + why));
    };
    if (!path.starts_with('/')) return refused("is not NAME=PATH with an absolute path");
    if (const Status valid = wire::ValidateBucketName(name); !valid)
      return refused("does not begin with a bucket's name: " + valid.error().message);
    if (std::ranges::find(options.real_buckets, name) != options.real_buckets.end())
      return refused("names a bucket that --real-bucket names, too");
    if (!options.bucket_dirs.emplace(name, path).second) return refused("names a bucket a second time");
  }
  return {};
}

Status ReadImages(const std::vector<std::string>& images, ServeOptions& options) {
  for (const std::string& image : images) {
    auto pair = control::ParseImageRuntime(image);
    if (!pair) return std::unexpected(InvalidArgument("--image-runtime", pair.error().message));
    options.images.push_back(*std::move(pair));
  }
  return {};
}

}  // namespace

Status ServeTexts::ReadInto(ServeOptions& options) const {
  if (!SplitListen(listen, options))
    return std::unexpected(InvalidArgument("--listen", "'" + listen + "' is not HOST:PORT"));
  if (!metrics_listen.empty()) {
    TY_TRY(options.metrics, sockets::ParseMetricsAddress(metrics_listen));
  }
  if (options.tls_certificate.empty() != options.tls_key.empty())
    return std::unexpected(InvalidArgument(options.tls_key.empty() ? "--tls-key" : "--tls-certificate",
                                           "a certificate and its key go together: give both"));
  TY_RETURN_IF_ERROR(ReadImages(images, options));
  TY_RETURN_IF_ERROR(containers.ReadInto(options.containers));
  TY_RETURN_IF_ERROR(engine.ReadInto(options.engine));
  TY_RETURN_IF_ERROR(access.ReadInto(options.access));
  TY_RETURN_IF_ERROR(ReadBucketDirs(bucket_dirs, options));
  TY_RETURN_IF_ERROR(ReadJobUsers(job_users, options));
  TY_RETURN_IF_ERROR(ReadQuotas(request_limits, accelerator_quota, options));
  TY_RETURN_IF_ERROR(shares.ReadInto(options.shares));
  TY_RETURN_IF_ERROR(retention.ReadInto(options.retention));
  TY_RETURN_IF_ERROR(ReadHostNames(host_names, options));
  TY_RETURN_IF_ERROR(ReadAccelerators(accelerators, accelerator_map, declares_accelerators, options));
  if (!options.keeper.empty() && !options.keeper.starts_with('/'))
    return std::unexpected(InvalidArgument("--keeper", "'" + options.keeper + "' is not an absolute path"));
  options.data_dir = std::filesystem::absolute(options.data_dir).lexically_normal().string();
  options.loop_turn_max = std::chrono::milliseconds(turn_milliseconds);
  options.stop_grace = std::chrono::seconds(grace_seconds);
  options.restart_pause =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(restart_seconds));
  return {};
}

}  // namespace trainyard::server
