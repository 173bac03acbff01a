#include "rules/jobs/images.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "base/text/hex.h"
#include "base/wire/filter_operand.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::ImageRecord;
using control::v1::JobRecord;

/// A result is recorded once: afterwards it has no unresolved image.
bool IsNews(const JobRecord& job, const Event::ImagesResolved& resolved) {
  return std::ranges::any_of(resolved.images(), [&job](const ImageRecord& found) {
    return std::ranges::any_of(job.images(), [&found](const ImageRecord& image) {
      return image.image() == found.image() && IsUnresolved(image);
    });
  });
}

SysTime NextLookUp(const ImageObservation& seen) {
  std::chrono::milliseconds pause = seen.first_pause;
  for (int i = 1; i < seen.unanswered && pause < kImagePauseMax; ++i) pause *= 2;
  return seen.asked_time + std::min<std::chrono::milliseconds>(pause, kImagePauseMax);
}

constexpr std::size_t kNameLengthMax = 255;
constexpr std::size_t kTagLengthMax = 128;
constexpr std::size_t kDigestHexMin = 32;

bool IsDigit(char c) { return '0' <= c && c <= '9'; }
bool IsLower(char c) { return 'a' <= c && c <= 'z'; }
bool IsAlphanumeric(char c) { return IsDigit(c) || IsLower(c) || ('A' <= c && c <= 'Z'); }

std::unexpected<Error> Refused(std::string_view text, std::string_view why) {
  return std::unexpected(InvalidArgument(
      {}, "'" + std::string(text) + "' is not the name of a container image: " + std::string(why)));
}

/// Returns the text before the first `separator`; `rest` keeps the text after it.
std::string_view TakeUpTo(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

/// host, host.name, host:5000: letters, digits and '-' inside, joined by dots.
bool IsDomain(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.empty() || !std::ranges::all_of(port, IsDigit)) return false;
    text = text.substr(0, colon);
  }
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || !IsAlphanumeric(part.front()) || !IsAlphanumeric(part.back())) return false;
    if (!std::ranges::all_of(part, [](char c) { return IsAlphanumeric(c) || c == '-'; })) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

/// Lower-case letters and digits; between them one '.', one or two '_', or any number of '-'.
bool IsPathComponent(std::string_view text) {
  const auto is_word = [](char c) { return IsLower(c) || IsDigit(c); };
  if (text.empty() || !is_word(text.front()) || !is_word(text.back())) return false;
  for (std::size_t i = 0; i < text.size();) {
    if (is_word(text[i])) {
      ++i;
      continue;
    }
    const std::size_t end = std::min(text.find_first_not_of(text[i], i), text.size());
    const std::size_t length = end - i;
    const bool good = text[i] == '-' || (text[i] == '.' && length == 1) || (text[i] == '_' && length <= 2);
    if (!good || !is_word(text[end])) return false;
    i = end;
  }
  return true;
}

bool IsTag(std::string_view text) {
  const auto is_word = [](char c) { return IsAlphanumeric(c) || c == '_'; };
  return !text.empty() && text.size() <= kTagLengthMax && is_word(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_word(c) || c == '.' || c == '-'; });
}

bool IsDigest(std::string_view text) {
  const std::string_view algorithm = TakeUpTo(text, ':');
  return !algorithm.empty() && std::ranges::all_of(algorithm, IsAlphanumeric) &&
         text.size() >= kDigestHexMin &&
         std::ranges::all_of(text, [](char c) { return text::HexValue(c) >= 0; });
}

/// Whether the first component of a path is a registry's domain, by Docker's rule.
bool LooksLikeDomain(std::string_view first) {
  return first == "localhost" || first.find_first_of(".:") != std::string_view::npos ||
         std::ranges::any_of(first, [](char c) { return 'A' <= c && c <= 'Z'; });
}

/// "oci:v1" is an image named "oci" with a tag; with a path it is a layout on this machine.
constexpr std::string_view kPathTransports[] = {"oci:/", "oci-archive:/", "docker-archive:/"};
constexpr std::string_view kStoreTransports[] = {"docker-daemon:", "containers-storage:"};
constexpr std::size_t kPathLengthMax = 4096;

Status CheckPath(std::string_view text) {
  const bool is_printable =
      std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (text.size() <= kPathLengthMax && is_printable) return {};
  return Refused(text, "it is not a path that this machine can have.");
}

Status CheckRegistryReference(std::string_view text, std::string_view reference) {
  std::string_view rest = reference;
  std::string_view name = TakeUpTo(rest, '@');
  if (name.size() != reference.size() && !IsDigest(rest)) {
    return Refused(text, "what follows '@' is not a digest such as sha256:... with 64 hexadecimal digits.");
  }
  const std::size_t last_slash = name.rfind('/');
  const std::size_t colon = name.find(':', last_slash == std::string_view::npos ? 0 : last_slash);
  if (colon != std::string_view::npos) {
    if (!IsTag(name.substr(colon + 1))) {
      return Refused(
          text,
          "a tag has up to 128 letters, digits, '_', '.' and '-' and begins with one of the first three.");
    }
    name = name.substr(0, colon);
  }
  if (name.size() > kNameLengthMax) return Refused(text, "it is longer than 255 characters.");
  const std::size_t first_slash = name.find('/');
  if (first_slash != std::string_view::npos && LooksLikeDomain(name.substr(0, first_slash))) {
    if (!IsDomain(name.substr(0, first_slash)))
      return Refused(text, "it does not begin with the name of a registry.");
    name.remove_prefix(first_slash + 1);
  }
  while (true) {
    const std::size_t slash = name.find('/');
    if (!IsPathComponent(name.substr(0, slash))) {
      return Refused(
          text,
          "the form is REGISTRY/PATH/NAME:TAG, where a path has lower-case letters and digits, with '.', '_' "
          "or '-' between them.");
    }
    if (slash == std::string_view::npos) return {};
    name.remove_prefix(slash + 1);
  }
}

/// The image without ":TAG" and "@DIGEST". A port is kept: its colon is followed by a slash.
std::string_view WithoutTag(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t colon = image.rfind(':');
  const bool is_tag = colon != std::string_view::npos && image.find('/', colon) == std::string_view::npos;
  return is_tag ? image.substr(0, colon) : image;
}

}  // namespace

bool IsUnresolved(const ImageRecord& image) { return image.digest().empty(); }

bool HasUnresolvedImages(const JobRecord& job) { return std::ranges::any_of(job.images(), IsUnresolved); }

std::optional<ImageStep> NextImageStep(const JobRecord& job, const ImageObservation& seen, SysTime now) {
  if (!HasUnresolvedImages(job)) return std::nullopt;
  if (!seen.refusal.empty()) {
    Event event;
    event.mutable_concluded()->set_outcome(ml::v1::Job::FAILED);
    event.mutable_concluded()->set_error_message(seen.refusal);
    return event;
  }
  if (seen.resolved && IsNews(job, *seen.resolved)) {
    Event event;
    *event.mutable_images_resolved() = *seen.resolved;
    return event;
  }
  if (seen.asking) return AwaitImages{};
  if (seen.unanswered == 0) return ResolveImages{};
  const SysTime next = NextLookUp(seen);
  if (now < next) return next;
  return ResolveImages{};
}

Status CheckImageReference(std::string_view text) {
  const auto begins = [text](std::string_view prefix) { return text.starts_with(prefix); };
  if (std::ranges::any_of(kPathTransports, begins)) return CheckPath(text);
  const auto* const store = std::ranges::find_if(kStoreTransports, begins);
  if (store != std::end(kStoreTransports)) return CheckRegistryReference(text, text.substr(store->size()));
  return CheckRegistryReference(text, text);
}

bool MatchesImage(std::string_view pattern, std::string_view image) {
  return wire::MatchesGlob(WithoutTag(pattern) == pattern ? WithoutTag(image) : image, pattern, false);
}

}  // namespace trainyard::jobs
