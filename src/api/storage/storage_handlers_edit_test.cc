#include "api/storage/storage_handlers_request.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/wire/json.h"
#include "trainyard/storage/v1/storage.pb.h"

namespace trainyard::api::storage_api {
namespace {

constexpr const char* kBefore =
    R"({"name":"x","generation":"7","contentType":"a/b","cacheControl":"no-store","metadata":{"k":"v","l":"w"}})";

/// The object after the edit, as JSON; or the error's message.
std::string Edited(Result<storage::ObjectEdit> edit) {
  if (!edit) return edit.error().message;
  storage::v1::Object object;
  EXPECT_TRUE(wire::ParseJson(kBefore, object));
  EXPECT_TRUE((*edit)(object));
  // Maps have no order.
  const std::map<std::string, std::string> metadata(object.metadata().begin(), object.metadata().end());
  object.clear_metadata();
  std::string text = wire::PrintJsonCompact(object);
  for (const auto& [key, value] : metadata) text += " " + key + "=" + value;
  return text;
}

struct Row {
  const char* name;
  const char* body;
  const char* after;
};
class Patch : public testing::TestWithParam<Row> {};
TEST_P(Patch, Changes) { EXPECT_EQ(Edited(ReadPatch(GetParam().body)), GetParam().after); }
INSTANTIATE_TEST_SUITE_P(
    Rules, Patch,
    testing::Values(
        Row{"nothing", "{}",
            R"({"cacheControl":"no-store","contentType":"a/b","generation":"7","name":"x"} k=v l=w)"},
        Row{"one_field", R"({"contentType":"c/d"})",
            R"({"cacheControl":"no-store","contentType":"c/d","generation":"7","name":"x"} k=v l=w)"},
        Row{"null_removes", R"({"cacheControl":null})",
            R"({"contentType":"a/b","generation":"7","name":"x"} k=v l=w)"},
        Row{"metadata_merges", R"({"metadata":{"k":null,"m":"n"}})",
            R"({"cacheControl":"no-store","contentType":"a/b","generation":"7","name":"x"} l=w m=n)"},
        Row{"metadata_null", R"({"metadata":null})",
            R"({"cacheControl":"no-store","contentType":"a/b","generation":"7","name":"x"})"},
        Row{"outputs_are_not_looked_at", R"({"generation":"9","name":"y","size":"3"})",
            R"({"cacheControl":"no-store","contentType":"a/b","generation":"7","name":"x"} k=v l=w)"},
        Row{"refused", R"({"temporaryHold":true})",
            "Object.temporaryHold is not supported by this server; leave it out"},
        Row{"unknown", R"({"contentTyp":"x"})",
            "Invalid JSON payload received. Unknown name \"contentTyp\": Cannot find field. "
            "Did you mean 'contentType'?"}),
    [](const auto& row) { return row.param.name; });

TEST(Update, ReplacesAllThatAClientMaySet) {
  EXPECT_EQ(Edited(ReadUpdate(R"({"contentType":"c/d","metadata":{"m":"n"}})")),
            R"({"contentType":"c/d","generation":"7","name":"x"} m=n)");
}

TEST(ReadPatch, Garbage) {
  for (const char* body : {"[", "[]", "1", "{\"metadata\":3}", "{\"contentType\":{}}"}) {
    const auto edit = ReadPatch(body);
    ASSERT_FALSE(edit) << body;
    EXPECT_EQ(edit.error().code, Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace trainyard::api::storage_api
