// Ranges of downloads and resumable uploads, targets and queries.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/storage/storage_handlers_range.h"
#include "base/check.h"
#include "base/text/percent.h"
#include "net/http/uri.h"

namespace {

void CheckRanges(std::string_view text) {
  using namespace trainyard::api::storage_api;
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, UINT64_MAX}) {
    const auto range = ReadRange(text, size);
    if (!range || !*range) continue;
    TY_CHECK((*range)->length > 0 && (*range)->offset < size && (*range)->length <= size - (*range)->offset);
  }
  const auto upload = ReadUploadRange(text);
  if (!upload) return;
  TY_CHECK(upload->first || !upload->last);
  TY_CHECK(!upload->first || !upload->last || *upload->first <= *upload->last);
  TY_CHECK(!upload->last || !upload->total || *upload->last < *upload->total);
  const auto print = [](const std::optional<std::uint64_t>& number) {
    return number ? std::to_string(*number) : std::string("*");
  };
  const std::string bytes = upload->first ? print(upload->first) + "-" + print(upload->last) : "*";
  TY_CHECK(ReadUploadRange("bytes " + bytes + "/" + print(upload->total)) == upload);
}

void CheckTargets(std::string_view text) {
  using namespace trainyard::http;
  const std::string encoded = trainyard::text::PercentEncode(text);
  const auto decoded = PercentDecode(encoded);
  TY_CHECK(decoded.has_value() ? *decoded == text : text.contains('\0'));
  const auto query = ParseQuery("a=" + encoded);
  if (decoded) TY_CHECK(query && query->size() == 1 && query->front().second == text);
  if (const auto once = PercentDecode(text); once && !text.contains('%')) TY_CHECK(*once == text);
  const Target target = SplitTarget(text);
  TY_CHECK(target.path.size() + target.query.size() <= text.size());
  TY_CHECK(!target.path.contains('?'));
  static_cast<void>(ParseQuery(target.query));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckRanges(text);
  CheckTargets(text);
  return 0;
}
