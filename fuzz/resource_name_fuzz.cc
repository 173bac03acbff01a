// Names of resources, objects and images, and update masks: what is read prints as it was.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/wire/field_selector.h"
#include "base/wire/resource_name.h"
#include "rules/jobs/images.h"
#include "rules/jobs/job_id.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace jobs = trainyard::jobs;
  namespace wire = trainyard::wire;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto name = wire::JobName::Parse(text)) TY_CHECK(name->ToString() == text);
  if (const auto project = wire::ParseProjectName(text)) TY_CHECK("projects/" + *project == text);
  if (const auto uri = wire::ObjectUri::Parse(text)) {
    TY_CHECK(wire::ObjectUri::Parse(uri->ToString()) == uri);
    TY_CHECK(wire::ValidateBucketName(uri->bucket).has_value());
  }
  if (const auto id = jobs::JobId::Parse(text)) {
    TY_CHECK(id->value() == text);
    TY_CHECK(wire::JobName::Parse("projects/p/jobs/" + id->value()).has_value());
  }
  const auto image = jobs::CheckImageReference(text);
  if (image) TY_CHECK(!text.empty() && jobs::MatchesImage(text, text) && jobs::MatchesImage("*", text));
  if (!image) TY_CHECK(!image.error().message.empty());

  static constexpr std::array<std::string_view, 2> kAllowed{"labels", "etag"};
  if (const auto mask = wire::ParseFieldMask(text, kAllowed)) {
    std::string printed;
    for (const auto& name : *mask) printed += (printed.empty() ? "" : ",") + name;
    TY_CHECK(wire::ParseFieldMask(printed, kAllowed) == mask);
  }
  return 0;
}
