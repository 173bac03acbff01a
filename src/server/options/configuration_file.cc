#include "server/options/configuration_file.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/async/file.h"
#include "base/configuration/reader.h"

namespace trainyard::server {
namespace {

constexpr mode_t kPermissions = 07777;

std::string Octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & kPermissions));
  return text;
}

}  // namespace

std::string WhoElseMayWrite(const struct stat& file, uid_t self) {
  if (!S_ISREG(file.st_mode)) return {};
  if ((file.st_mode & S_IWOTH) != 0) return "every account may change it (mode " + Octal(file.st_mode) + ")";
  if ((file.st_mode & S_IWGRP) != 0 && file.st_gid != 0)
    return "the accounts of group " + std::to_string(file.st_gid) + " may change it (mode " +
           Octal(file.st_mode) + ")";
  if (file.st_uid != 0 && file.st_uid != self)
    return "it belongs to account " + std::to_string(file.st_uid) + ", which may change it";
  return {};
}

Result<ConfigurationFile> LoadConfigurationFile(const std::string& path) {
  TY_TRY(std::string text, ReadFile(path, configuration::kFileBytesMax));
  ConfigurationFile file{.path = path, .text = std::move(text)};
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) file.warning = WhoElseMayWrite(status, ::geteuid());
  if (!file.warning.empty())
    file.warning = path + ": " + file.warning + ": make it writable for its owner alone (chmod 0644)";
  return file;
}

}  // namespace trainyard::server
