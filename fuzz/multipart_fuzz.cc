// Multipart uploads: the result is the same however the body is cut, and contains nothing else. The first
// byte says how to cut, the first line is the content type.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/storage/storage_handlers_multipart.h"
#include "base/check.h"

namespace {

using trainyard::api::storage_api::MultipartUpload;

struct Outcome {
  bool accepted = false;
  bool complete = false;
  std::optional<std::string> resource;
  std::string media_type;
  std::string media;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome Read(MultipartUpload upload, std::string_view body, std::size_t step) {
  Outcome outcome{.accepted = true};
  while (!body.empty() && outcome.accepted) {
    outcome.accepted = upload.Feed(body.substr(0, step)).has_value();
    body.remove_prefix(std::min(step, body.size()));
    outcome.media += upload.TakeMedia();
  }
  outcome.complete = upload.complete();
  outcome.resource = upload.resource();
  outcome.media_type = upload.media_type();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t line = std::min(text.find('\n'), text.size());
  const auto upload = MultipartUpload::Create(text.substr(0, line));
  if (!upload) return 0;
  const std::string_view body = text.substr(std::min(line + 1, text.size()));
  const Outcome whole = Read(*upload, body, std::max<std::size_t>(body.size(), 1));
  TY_CHECK(body.contains(whole.media));
  TY_CHECK(!whole.resource || body.contains(*whole.resource));
  TY_CHECK(!whole.complete || whole.accepted);
  const Outcome cut = Read(*upload, body, 1 + data[0] % 32);
  TY_CHECK(cut.accepted == whole.accepted);
  if (whole.accepted) TY_CHECK(cut == whole);
  return 0;
}
