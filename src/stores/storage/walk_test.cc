#include "stores/storage/walk.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "base/async/unique_fd.h"
#include "stores/storage/folder.h"
#include "stores/storage/testing/storage_fixture.h"

namespace trainyard::storage {
namespace {

/// A bucket's directory with empty objects of these names.
class Bucket {
 public:
  explicit Bucket(const std::vector<std::string>& objects)
      : fd_(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY)),
        uploads_(::open("/tmp", O_RDONLY | O_DIRECTORY)) {
    for (const std::string& object : objects) {
      std::ofstream(folder_.path() / ".%tmp.test").close();
      const Status placed = PlaceFile(fd_.get(), EscapeObject(object), fd_.get(), ".%tmp.test");
      EXPECT_TRUE(placed) << object << ": " << placed.error().message;
    }
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  UniqueFd fd_;
  UniqueFd uploads_;
};

using Names = std::vector<std::string>;

Names All(const Bucket& bucket) { return ListNames(bucket.fd(), {.results_max = 100000})->objects; }

TEST(ListNames, IsInTheOrderOfBytes) {
  const std::string x(240, 'x');
  Names names{"a",     "a-b",       "a/", "a/b", "a//",     "a/b/c",     "a0",         "A",
              "/",     "//a",       ".",  "..",  "../x",    ".%file.a",  "é",          "z/.%empty",
              "a.b/c", ".a",        x,    x + x, x + "-/q", x + x + "z", x + "y/tail", x + x + "/tail",
              "a/..",  "b/../../c", "~",  "\x7f"};
  const Bucket bucket(names);
  std::ranges::sort(names);
  EXPECT_EQ(All(bucket), names);
}

struct Row {
  const char* name;
  NameQuery query;
  NamePage page;
};
class Queries : public testing::TestWithParam<Row> {};
TEST_P(Queries, Answer) {
  const Bucket bucket({"a", "a-1", "a/", "a/x", "a/y/1", "a/y/2", "b", "c/d/e", "logs"});
  EXPECT_EQ(ListNames(bucket.fd(), GetParam().query), GetParam().page);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, Queries,
    testing::Values(
        Row{"all", {}, {{"a", "a-1", "a/", "a/x", "a/y/1", "a/y/2", "b", "c/d/e", "logs"}, {}, ""}},
        Row{"top", {.delimiter = "/"}, {{"a", "a-1", "b", "logs"}, {"a/", "c/"}, ""}},
        Row{"inside", {.prefix = "a/", .delimiter = "/"}, {{"a/", "a/x"}, {"a/y/"}, ""}},
        Row{"half_a_name", {.prefix = "a/y"}, {{"a/y/1", "a/y/2"}, {}, ""}},
        Row{"nothing", {.prefix = "zz"}, {}}, Row{"below_a_file", {.prefix = "b/"}, {}},
        Row{"offsets", {.start_offset = "a/x", .end_offset = "b"}, {{"a/x", "a/y/1", "a/y/2"}, {}, ""}},
        Row{"offset_in_a_prefix",
            {.delimiter = "/", .start_offset = "a/y"},
            {{"b", "logs"}, {"a/", "c/"}, ""}},
        Row{"trailing",
            {.delimiter = "/", .include_trailing_delimiter = true},
            {{"a", "a-1", "a/", "b", "logs"}, {"a/", "c/"}, ""}},
        Row{"glob", {.match_glob = "a/**"}, {{"a/", "a/x", "a/y/1", "a/y/2"}, {}, ""}},
        Row{"glob_of_the_top", {.match_glob = "?"}, {{"a", "b"}, {}, ""}},
        Row{"glob_and_prefix", {.prefix = "a/y/", .match_glob = "a/**1"}, {{"a/y/1"}, {}, ""}},
        Row{"glob_against_prefix", {.prefix = "c", .match_glob = "a/**"}, {}},
        Row{"glob_of_prefixes", {.delimiter = "/", .match_glob = "{c,logs}*/"}, {{}, {"c/"}, ""}},
        Row{"glob_of_a_prefix", {.delimiter = "/", .match_glob = "c?"}, {}},
        Row{"glob_with_prefixes",
            {.delimiter = "/", .match_glob = "**"},
            {{"a", "a-1", "b", "logs"}, {"a/", "c/"}, ""}},
        Row{"other_delimiter",
            {.delimiter = "/y"},
            {{"a", "a-1", "a/", "a/x", "b", "c/d/e", "logs"}, {"a/y"}, ""}}),
    [](const auto& row) { return row.param.name; });

TEST(ListNames, PagesAddUpToTheWhole) {
  std::mt19937 random(11);
  Names names;
  for (int i = 0; i < 300; ++i) {
    std::string name;
    for (auto left = 1 + random() % 4; left > 0; --left)
      name += std::string(1, "ab-0"[random() % 4]) + (left > 1 ? "/" : "");
    names.push_back(name);
  }
  const Bucket bucket(names);
  for (const char* delimiter : {"", "/", "/a/"}) {
    for (const std::size_t size : {1UL, 2UL, 7UL, 1000UL}) {
      NameQuery query{.delimiter = delimiter, .results_max = 100000};
      const NamePage whole = *ListNames(bucket.fd(), query);
      query.results_max = size;
      NamePage sum;
      do {
        const auto page = ListNames(bucket.fd(), query);
        ASSERT_TRUE(page);
        ASSERT_LE(page->objects.size() + page->prefixes.size(), size);
        sum.objects.insert(sum.objects.end(), page->objects.begin(), page->objects.end());
        sum.prefixes.insert(sum.prefixes.end(), page->prefixes.begin(), page->prefixes.end());
        query.page_token = page->next_page_token;
      } while (!query.page_token.empty());
      ASSERT_EQ(sum, whole) << delimiter << " " << size;
    }
  }
  const std::set<std::string> unique(names.begin(), names.end());
  EXPECT_EQ(All(bucket), Names(unique.begin(), unique.end()));
}

TEST(ListNames, RefusesAForeignToken) {
  const Bucket bucket({});
  const auto page = ListNames(bucket.fd(), {.page_token = "not base64"});
  EXPECT_EQ(page, std::unexpected(InvalidArgument("pageToken", "Invalid page token: not base64")));
}

TEST(ListNames, PassesOverWhatIsNoObject) {
  const Bucket bucket({"a/b"});
  std::filesystem::create_directories(bucket.path() / "empty/inner");
  std::filesystem::create_symlink("/etc/passwd", bucket.path() / "link");
  std::filesystem::create_directory_symlink("/etc", bucket.path() / "etc");
  std::ofstream(bucket.path() / ".%name.plain").close();
  std::ofstream(bucket.path() / ".%tmp.x").close();
  std::ofstream(bucket.path() / "caf\xe9").close();
  ASSERT_EQ(::mkfifo((bucket.path() / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(*ListNames(bucket.fd(), {}), (NamePage{{"a/b"}, {}, ""}));
  EXPECT_EQ(*ListNames(bucket.fd(), {.delimiter = "/"}), (NamePage{{}, {"a/"}, ""}));
}

TEST(ListNames, GoesAsDeepAsNamesCan) {
  std::string deep;
  for (int i = 0; i < 511; ++i) deep += "./";
  const Names names{std::string(1024, '/'), deep + "xy"};
  const Bucket bucket(names);
  EXPECT_EQ(All(bucket), (Names{names[1], names[0]}));
  for (const std::string& name : names) ASSERT_TRUE(RemoveFile(bucket.fd(), EscapeObject(name)));
  EXPECT_TRUE(std::filesystem::is_empty(bucket.path()));
}

}  // namespace
}  // namespace trainyard::storage
