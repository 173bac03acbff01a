#include "programs/attempt/secret_values.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/async/file.h"

namespace trainyard::replica {

/// Writes "NAME=value" followed by a NUL for each secret: neither name nor value contains one.
Result<UniqueFd> TakeSecretValues(v1::Manifest& manifest) {
  if (manifest.secrets().empty()) return UniqueFd();
  UniqueFd file(memfd_create("trainyard-secrets", MFD_CLOEXEC));
  if (!file) return std::unexpected(ErrnoError(errno, "memfd_create"));
  std::string text;
  for (const std::string& name : manifest.secrets()) {
    const auto value = manifest.mutable_environment()->find(name);
    if (value == manifest.mutable_environment()->end())
      return std::unexpected(Internal("the secret " + name + " has no value"));
    text.append(name).append("=").append(value->second).push_back('\0');
    manifest.mutable_environment()->erase(value);
  }
  TY_RETURN_IF_ERROR(WriteAll(file.get(), text));
  if (lseek(file.get(), 0, SEEK_SET) != 0) return std::unexpected(ErrnoError(errno, "lseek"));
  return file;
}

Status ReadSecretValues(int descriptor, v1::Manifest& manifest) {
  if (manifest.secrets().empty()) return {};
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t got = read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(ErrnoError(errno, "read the secrets"));
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    const std::size_t equals = text.find('=', begin);
    if (equals < end)
      (*manifest.mutable_environment())[text.substr(begin, equals - begin)] =
          text.substr(equals + 1, end - equals - 1);
    begin = end + 1;
  }
  for (const std::string& name : manifest.secrets()) {
    if (!manifest.environment().contains(name))
      return std::unexpected(Error{Code::kDataLoss, "the supervisor was not given the secret " + name, {}});
  }
  return {};
}

}  // namespace trainyard::replica
