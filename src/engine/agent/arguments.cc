#include "engine/agent/arguments.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/number.h"
#include "base/text/hex.h"

namespace trainyard::agent {

namespace {

constexpr std::size_t kFingerprintDigits = 64;
constexpr std::size_t kNodeBytesMax = 255;
/// Slurm sets CUDA_VISIBLE_DEVICES to this for a task without GPUs.
constexpr std::string_view kNoGpus = "NoDevFiles";

/// It becomes the name of a directory.
bool IsNodeName(std::string_view name) {
  const auto fits = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= kNodeBytesMax && name.front() != '.' &&
         std::ranges::all_of(name, fits);
}

Status ReadServer(std::string_view text, Arguments& arguments) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return std::unexpected(InvalidArgument("--server", "is not HOST:PORT"));
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto port = WholeNumber<std::uint16_t>(text.substr(colon + 1));
  if (host.empty() || !port || *port == 0)
    return std::unexpected(InvalidArgument("--server", "is not HOST:PORT"));
  arguments.server_host = host;
  arguments.server_port = *port;
  return {};
}

std::vector<std::string> ReadGpus(std::string_view text) {
  std::vector<std::string> gpus;
  if (text == kNoGpus) return gpus;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) gpus.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return gpus;
}

}  // namespace

Result<Arguments> ParseArguments(std::span<const std::string_view> words) {
  std::map<std::string_view, std::string_view> values = {
      {"--server", {}}, {"--fingerprint", {}}, {"--slot", {}},  {"--node", {}},   {"--gpus", {}},
      {"--dir", {}},    {"--cache", {}},       {"--front", {}}, {"--starter", {}}};
  for (const std::string_view word : words) {
    const std::size_t equals = word.find('=');
    const auto known = values.find(word.substr(0, equals));
    if (equals == std::string_view::npos || known == values.end())
      return std::unexpected(InvalidArgument(word, "is no argument of trainyard agent"));
    known->second = word.substr(equals + 1);
  }
  Arguments arguments;
  TY_RETURN_IF_ERROR(ReadServer(values["--server"], arguments));
  arguments.fingerprint = values["--fingerprint"];
  if (arguments.fingerprint.size() != kFingerprintDigits || !text::IsLowerHex(arguments.fingerprint))
    return std::unexpected(InvalidArgument("--fingerprint", "is not 64 lower-case hexadecimal digits"));
  const auto slot = WholeNumber<int>(values["--slot"]);
  if (!slot || *slot < 0) return std::unexpected(InvalidArgument("--slot", "is no number from 0"));
  arguments.slot = *slot;
  if (!IsNodeName(values["--node"])) return std::unexpected(InvalidArgument("--node", "is no node's name"));
  arguments.node = values["--node"];
  arguments.gpus = ReadGpus(values["--gpus"]);
  arguments.dir = values["--dir"];
  if (!arguments.dir.starts_with('/'))
    return std::unexpected(InvalidArgument("--dir", "is no absolute path"));
  arguments.cache = values["--cache"];
  if (!arguments.cache.empty() && !arguments.cache.starts_with('/'))
    return std::unexpected(InvalidArgument("--cache", "is no absolute path"));
  arguments.front = values["--front"];
  arguments.starter = values["--starter"];
  if (!arguments.starter.empty() && !arguments.starter.starts_with('/'))
    return std::unexpected(InvalidArgument("--starter", "is no absolute path"));
  return arguments;
}

}  // namespace trainyard::agent
