#include "control/curves/read_summary.h"

#include <unistd.h>

#include <array>

#include "base/wire/utf8.h"

namespace trainyard::curves {

namespace {

struct Signature {
  std::string_view begins;
  std::string_view type;
};

using namespace std::string_view_literals;

constexpr std::array kSignatures{
    Signature{"\x89PNG\r\n\x1a\n"sv, "image/png"},
    Signature{"\xff\xd8\xff"sv, "image/jpeg"},
    Signature{"GIF87a"sv, "image/gif"},
    Signature{"GIF89a"sv, "image/gif"},
};

}  // namespace

std::string_view ImageType(std::string_view bytes) {
  for (const Signature& signature : kSignatures) {
    if (bytes.starts_with(signature.begins)) return signature.type;
  }
  const bool is_webp = bytes.size() >= 14 && bytes.starts_with("RIFF") && bytes.substr(8, 6) == "WEBPVP";
  return is_webp ? "image/webp"sv : ""sv;
}

Result<SummaryBytes> ReadSummary(const storage::ReadableObject& object,
                                 const measurement::SummaryValue& value) {
  if (value.extent.length > kSummaryBytesMax)
    return std::unexpected(FailedPrecondition("It has " + std::to_string(value.extent.length) +
                                              " bytes: more than is shown. Read it from the event file."));
  SummaryBytes summary{.content_type = {}, .bytes = std::string(value.extent.length, '\0')};
  std::size_t size = 0;
  while (size < summary.bytes.size()) {
    const ssize_t got = pread(object.file.get(), summary.bytes.data() + size, summary.bytes.size() - size,
                              static_cast<off_t>(value.extent.offset + size));
    if (got <= 0) return std::unexpected(NotFound("The event file has changed: list the summaries again."));
    size += static_cast<std::size_t>(got);
  }
  if (value.kind == measurement::SummaryValue::Kind::kText) {
    summary.content_type = "text/plain; charset=utf-8";
    summary.bytes = wire::ReplaceMalformed(summary.bytes);
    return summary;
  }
  summary.content_type = ImageType(summary.bytes);
  if (summary.content_type.empty())
    return std::unexpected(FailedPrecondition("This is no PNG, JPEG, GIF or WebP image: it is not shown."));
  return summary;
}

}  // namespace trainyard::curves
