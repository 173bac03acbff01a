#include "programs/image/credentials.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/async/file.h"
#include "base/text/base64.h"
#include "base/wire/json_members.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::size_t kAuthFileBytesMax = std::size_t{1} << 20;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<std::string> AuthFiles(const std::string& registries_dir) {
  std::vector<std::string> files;
  if (!registries_dir.empty()) files.push_back(OwnAuthFile(registries_dir));
  if (const std::string file = Variable("REGISTRY_AUTH_FILE"); !file.empty()) files.push_back(file);
  const std::string docker = Variable("DOCKER_CONFIG");
  const std::string home = Variable("HOME");
  if (!docker.empty())
    files.push_back(docker + "/config.json");
  else if (!home.empty())
    files.push_back(home + "/.docker/config.json");
  if (const std::string run = Variable("XDG_RUNTIME_DIR"); !run.empty())
    files.push_back(run + "/containers/auth.json");
  return files;
}

/// Empty if it is missing or malformed.
json::object Load(const std::string& file) {
  const Result<std::string> text = ReadFile(file, kAuthFileBytesMax);
  if (!text) return {};
  return wire::ParseJsonObject(*text).value_or(json::object());
}

/// "https://index.docker.io/v1/" is docker.io; "gcr.io/project" stays.
std::string_view RegistryOf(std::string_view key) {
  for (const std::string_view scheme : {"https://", "http://"})
    if (key.starts_with(scheme)) {
      key.remove_prefix(scheme.size());
      key = key.substr(0, key.find('/'));
    }
  return key == "index.docker.io" || key == "registry-1.docker.io" ? "docker.io" : key;
}

/// Whether an entry for `key` is for the image: its registry, or a directory in it.
bool Covers(std::string_view key, std::string_view name) {
  const std::string_view prefix = RegistryOf(key);
  return name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == '/');
}

bool HasEntry(const json::object& file, std::string_view name) {
  for (const std::string_view member : {"auths", "credHelpers"})
    for (const auto& [key, value] : wire::ObjectIn(file, member))
      if (Covers(key, name)) return true;
  return false;
}

/// A store may have credentials for any: only skopeo asks it.
bool MayKnow(const json::object& file, std::string_view name) {
  return !wire::TextIn(file, "credsStore").empty() || HasEntry(file, name);
}

std::string UserOf(const json::value& entry) {
  const json::object* object = entry.if_object();
  if (object == nullptr) return {};
  const std::string decoded = text::FromBase64(wire::TextIn(*object, "auth")).value_or("");
  return decoded.substr(0, decoded.find(':'));
}

}  // namespace

std::string OwnAuthFile(const std::string& registries_dir) { return registries_dir + "/auth.json"; }

std::string FindAuthFile(const std::string& registries_dir, std::string_view name) {
  for (const std::string& file : AuthFiles(registries_dir))
    if (MayKnow(Load(file), name)) return file;
  return {};
}

bool NamesRegistry(const std::string& registries_dir, std::string_view name) {
  return std::ranges::any_of(AuthFiles(registries_dir),
                             [name](const std::string& file) { return HasEntry(Load(file), name); });
}

std::vector<KnownRegistry> KnownRegistries(const std::string& registries_dir) {
  std::vector<KnownRegistry> known;
  for (const std::string& file : AuthFiles(registries_dir)) {
    const json::object loaded = Load(file);
    for (const auto& [key, value] : wire::ObjectIn(loaded, "auths"))
      known.push_back({.registry = std::string(RegistryOf(key)), .user = UserOf(value), .file = file});
    for (const auto& [key, value] : wire::ObjectIn(loaded, "credHelpers"))
      known.push_back({.registry = std::string(RegistryOf(key)), .user = {}, .file = file});
  }
  return known;
}

}  // namespace trainyard::image
