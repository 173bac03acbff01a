#include "control/intake/kept_look_ups.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trainyard::control {

namespace {

bool IsWorthKeeping(const Result<image::ResolvedImage>& said, std::chrono::milliseconds timeout) {
  if (said) return true;
  if (said.error().code == Code::kCancelled) return false;
  return said.error().code != Code::kDeadlineExceeded || timeout >= KeptLookUps::kTimeMin;
}

}  // namespace

Result<image::ResolvedImage> KeptLookUps::Resolve(const ImageResolver& resolve, const std::string& image,
                                                  std::chrono::milliseconds timeout,
                                                  const std::stop_token& stop) {
  const SysTime now = clock_.Now();
  const auto is_over = [now](const auto& entry) {
    return entry.second.since > now || now - entry.second.since >= kLife;
  };
  auto known = images_.With([&](Images& images) -> std::optional<Result<image::ResolvedImage>> {
    std::erase_if(images, is_over);
    const auto found = images.find(image);
    if (found == images.end()) return std::nullopt;
    return found->second.said;
  });
  if (known) return *std::move(known);
  Result<image::ResolvedImage> said = resolve(image, timeout, stop);
  if (!IsWorthKeeping(said, timeout)) return said;
  images_.With([&](Images& images) {
    if (images.size() >= kImagesMax && !images.contains(image))
      images.erase(std::ranges::min_element(images, {}, [](const auto& one) { return one.second.since; }));
    images.insert_or_assign(image, Kept{.since = now, .said = said});
  });
  return said;
}

}  // namespace trainyard::control
