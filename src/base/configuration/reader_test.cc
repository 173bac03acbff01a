#include "base/configuration/reader.h"

#include <gtest/gtest.h>

namespace trainyard::configuration {
namespace {

using Kind = Key::Kind;

/// A key of each kind.
const std::vector<Key>& Keys() {
  static const std::vector<Key> kKeys{
      {.name = "accelerators", .flag = "--accelerators", .metavar = "TYPE=N,..."},
      {.name = "bucket-dir", .flag = "--bucket-dir", .kind = Kind::kList, .metavar = "NAME=PATH"},
      {.name = "create-buckets", .flag = "--no-create-buckets", .kind = Kind::kSwitch, .turns_off = true},
      {.name = "data", .flag = "--data", .metavar = "DIR"},
      {.name = "google-front", .flag = "--google-front", .metavar = "on|off"},
      {.name = "host-name", .flag = "--host-name", .kind = Kind::kList, .metavar = "NAME"},
      {.name = "listen", .flag = "--listen", .metavar = "HOST:PORT"},
      {.name = "verbose", .flag = "--verbose", .kind = Kind::kSwitch}};
  return kKeys;
}

/// "key@line=value@line,..." of each setting.
std::string Settings(std::string_view text) {
  std::string all;
  for (const Setting& setting : Read(text, Keys()).settings) {
    all += (all.empty() ? "" : " ") + setting.key + "@" + std::to_string(setting.line) + "=";
    for (const Value& value : setting.values)
      all += (all.ends_with("=") ? "" : "|") + value.text + "@" + std::to_string(value.line);
  }
  return all;
}

struct Accepted {
  const char* name;
  const char* text;
  const char* settings;
};
class ReaderAccepts : public testing::TestWithParam<Accepted> {};
TEST_P(ReaderAccepts, Values) {
  for (const Mistake& mistake : Read(GetParam().text, Keys()).mistakes)
    ADD_FAILURE() << Describe(mistake, "f");
  EXPECT_EQ(Settings(GetParam().text), GetParam().settings);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, ReaderAccepts,
    testing::Values(
        Accepted{"nothing", "", ""}, Accepted{"comments", "# a\n\n\t# b\n\t\n", ""},
        Accepted{"tab_before_value", "listen:\t1", "listen@1=1@1"},
        Accepted{"start", "---\nlisten: 1\n...\n", "listen@2=1@2"},
        Accepted{"byte_order_mark", "\xEF\xBB\xBFlisten: 1", "listen@1=1@1"},
        Accepted{"line_ends", "listen: 1\r\nverbose: yes\r\n", "listen@1=1@1 verbose@2=true@2"},
        Accepted{"letter_by_letter", "listen: 2.10", "listen@1=2.10@1"},
        Accepted{"octal_stays", "listen: 010", "listen@1=010@1"},
        Accepted{"boolean_as_text", "listen: yes", "listen@1=yes@1"},
        Accepted{"with_a_colon", "listen: 127.0.0.1:8470", "listen@1=127.0.0.1:8470@1"},
        Accepted{"quoted", "listen: '[::1]:0'", "listen@1=[::1]:0@1"},
        Accepted{"empty_text", "listen: \"\"", "listen@1=@1"},
        Accepted{"tag_of_yaml", "listen: !!str 1", "listen@1=1@1"},
        Accepted{"next_line", "\nlisten:\n  here", "listen@2=here@3"},
        Accepted{"json", "{\"listen\": \"a\", \"verbose\": true}", "listen@1=a@1 verbose@1=true@1"},
        Accepted{"switch_off", "create-buckets: No\nverbose: OFF",
                 "create-buckets@1=false@1 verbose@2=false@2"},
        Accepted{"on_off", "google-front: false", "google-front@1=off@1"},
        Accepted{"on_off_quoted", "google-front: 'on'", "google-front@1=on@1"},
        Accepted{"on_off_else", "google-front: 7", "google-front@1=7@1"},
        Accepted{"list", "host-name:\n- a\n- b\n", "host-name@1=a@2|b@3"},
        Accepted{"list_of_one", "host-name: a", "host-name@1=a@1"},
        Accepted{"no_list", "host-name: []", "host-name@1="},
        Accepted{"pairs", "bucket-dir: [a=/x, b=/y]", "bucket-dir@1=a=/x@1|b=/y@1"},
        Accepted{"mapping", "bucket-dir:\n  a: /x\n  b: /y\n", "bucket-dir@1=a=/x@2|b=/y@3"},
        Accepted{"list_of_mappings", "bucket-dir:\n- a: /x\n- b=/y\n", "bucket-dir@1=a=/x@2|b=/y@3"},
        Accepted{"joined_text", "accelerators: a=1,b=2", "accelerators@1=a=1,b=2@1"},
        Accepted{"joined_list", "accelerators:\n- a=1\n- b=2", "accelerators@1=a=1,b=2@2"},
        Accepted{"joined_mapping", "accelerators: {a: 1, b: 2}", "accelerators@1=a=1,b=2@1"}),
    [](const auto& row) { return row.param.name; });

struct Refused {
  const char* name;
  const char* text;
  std::vector<std::string> mistakes;
};
class ReaderRefuses : public testing::TestWithParam<Refused> {};
TEST_P(ReaderRefuses, WithLineAndReason) {
  std::vector<std::string> mistakes;
  for (const Mistake& mistake : Read(GetParam().text, Keys()).mistakes)
    mistakes.push_back(Describe(mistake, "f"));
  EXPECT_EQ(mistakes, GetParam().mistakes);
}
INSTANTIATE_TEST_SUITE_P(
    Shapes, ReaderRefuses,
    testing::Values(
        Refused{"near_key", "\nlisen: 1", {"f:2: lisen: there is no such key. Did you mean 'listen'?"}},
        Refused{"flag", "--data: /x", {"f:1: --data: there is no such key. Did you mean 'data'?"}},
        Refused{"underscore",
                "bucket_dir: []",
                {"f:1: bucket_dir: there is no such key. Did you mean 'bucket-dir'?"}},
        Refused{"negated",
                "no-create-buckets: true",
                {"f:1: no-create-buckets: there is no such key. Did you mean 'create-buckets'?"}},
        Refused{
            "far_key", "xyzzy: 1", {"f:1: xyzzy: there is no such key. `trainyard config show` lists all"}},
        Refused{"all_of_them",
                "lisen: 1\nverbose: 1\ndata: x\nlisten: 5\n",
                {"f:1: lisen: there is no such key. Did you mean 'listen'?",
                 "f:2: verbose: must be true or false, not '1'", "f:3: data: 'x' must be an absolute path"}},
        Refused{"twice", "data: /x\n\ndata: /y", {"f:3: data: is given twice: here and in line 1"}},
        Refused{"unknown_twice",
                "dat: 1\ndat: 2",
                {"f:1: dat: there is no such key. Did you mean 'data'?",
                 "f:2: dat: is given twice: here and in line 1"}},
        Refused{"name_twice",
                "bucket-dir:\n  a: /x\n  a: /y",
                {"f:3: bucket-dir: 'a' is given twice: here and in line 2"}},
        Refused{"merge", "<<: {data: /x}", {"f:1: <<: merge keys are not supported; write the keys out"}},
        Refused{"no_word", "[a]: 1", {"f:1: a key must be a word"}},
        Refused{"odd_word", "\"a\\nb\": 1", {"f:1: a key must be a word"}},
        Refused{"no_value",
                "data:\nlisten: ~",
                {"f:1: data: has no value: add one, or remove the key",
                 "f:2: listen: has no value: add one, or remove the key"}},
        Refused{"no_value_in_list", "host-name:\n- a\n-\n", {"f:1: host-name: has no value: add one"}},
        Refused{"no_value_of_a_name", "bucket-dir:\n  a:", {"f:2: bucket-dir: 'a' has no value: add one"}},
        Refused{"list_for_text", "listen: [a]", {"f:1: listen: it must be one value, HOST:PORT, not a list"}},
        Refused{"mapping_for_text",
                "listen: {a: 1}",
                {"f:1: listen: it must be one value, HOST:PORT, not a mapping"}},
        Refused{"mapping_for_list",
                "host-name:\n  a: b",
                {"f:2: host-name: each entry must be one value, NAME, not a mapping; quote a text that "
                 "contains a colon and a space"}},
        Refused{"list_in_list",
                "host-name:\n- a\n- [b]",
                {"f:3: host-name: each entry must be one value, NAME, not a list"}},
        Refused{"list_in_mapping",
                "bucket-dir:\n  a: [b]",
                {"f:2: bucket-dir: 'a' must be one value, not a list"}},
        Refused{"list_for_switch", "verbose: [true]", {"f:1: verbose: must be true or false, not a list"}},
        Refused{"empty_joined", "accelerators: {}", {"f:1: accelerators: is empty: remove the key"}},
        Refused{"comma_in_joined",
                "accelerators: {a: '1,b=2'}",
                {"f:1: accelerators: 'a' must be one value, without a comma"}},
        Refused{"equals_in_name",
                "bucket-dir: {a=b: /x}",
                {"f:1: bucket-dir: the text before the colon must be a name without '='"}},
        Refused{"tag", "listen: !ENV HOST", {"f:1: listen: has the tag !ENV, which is not supported"}},
        Refused{"two_lines",
                "listen: |\n  a\n  b\n",
                {"f:1: listen: must be text on one line, without control characters, of at most 4096 bytes"}},
        Refused{
            "escaped_control",
            "listen: \"\\e[31m\"",
            {"f:1: listen: must be text on one line, without control characters, of at most 4096 bytes"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Documents, ReaderRefuses,
    testing::Values(
        Refused{"text", "listen", {"f:1: the file must have lines of KEY: VALUE"}},
        Refused{"list", "\n- listen: 1", {"f:2: the file must have lines of KEY: VALUE"}},
        Refused{"second_document", "listen: 1\n---\nverbose: yes", {"f:2: a second document begins here"}},
        Refused{"alias",
                "listen: &x 1\ndata: *x",
                {"f:2: aliases (*NAME) are not read here; write the value out"}},
        Refused{"tab", "host-name:\n\t- a", {"f:2: the line is indented with a tab: use spaces"}},
        Refused{"broken", "listen: [a", {"f:1: end of sequence flow not found"}},
        Refused{"end_of_text", "listen: 1\nver\x04: 2", {"f:2: the line has a control character"}},
        Refused{"latin_1", "\nlisten: \xe4", {"f:2: the line is not UTF-8"}},
        Refused{"utf_16", "\xff\xfel\n", {"f:1: the line is not UTF-8"}}),
    [](const auto& row) { return row.param.name; });

TEST(ReaderLimits, AreNamed) {
  const std::string long_text = "listen: " + std::string(kTextBytesMax + 1, 'x');
  EXPECT_EQ(Read(long_text, Keys()).mistakes.size(), 1U);
  const Reading large = Read(std::string(kFileBytesMax + 1, '\n'), Keys());
  EXPECT_EQ(large.mistakes, (std::vector<Mistake>{{.reason = "the file has more than 1 MiB"}}));
  std::string many = "host-name:\n";
  for (std::size_t i = 0; i <= kValuesMax; ++i) many += "- a\n";
  EXPECT_EQ(Read(many, Keys()).mistakes,
            (std::vector<Mistake>{{.line = 2, .key = "host-name", .reason = "has more than 10000 values"}}));
  std::string wrong;
  for (std::size_t i = 0; i < 2 * kMistakesMax; ++i) wrong += "k" + std::to_string(i) + ": 1\n";
  const Reading unknown = Read(wrong, Keys());
  EXPECT_EQ(unknown.mistakes.size(), kMistakesMax + 1);
  EXPECT_EQ(unknown.mistakes.back().line, 101);
}

}  // namespace
}  // namespace trainyard::configuration
