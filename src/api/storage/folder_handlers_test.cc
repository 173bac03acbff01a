#include "api/storage/folder_handlers.h"

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "api/storage/testing/storage_api_fixture.h"

namespace trainyard::api {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr const char* kFolder = "/trainyard/v1/buckets/bucket/folder";

class FolderHandlers : public StorageApi {
 protected:
  ClientResponse Summary(const std::string& prefix) {
    return Send(Method::kGet, std::string(kFolder) + ":summarize?prefix=" + prefix);
  }
  ClientResponse Download(const std::string& query) {
    return Send(Method::kGet, std::string(kFolder) + ":download?format=tar&" + query);
  }
  /// Names and bytes of a tar's entries.
  static std::map<std::string, std::string> Entries(const std::string& tar) {
    std::map<std::string, std::string> entries;
    ::archive* reader = ::archive_read_new();
    ::archive_read_support_format_tar(reader);
    ::archive_read_support_format_empty(reader);
    EXPECT_EQ(::archive_read_open_memory(reader, tar.data(), tar.size()), ARCHIVE_OK);
    ::archive_entry* entry = nullptr;
    while (::archive_read_next_header(reader, &entry) == ARCHIVE_OK) {
      std::string bytes(static_cast<std::size_t>(::archive_entry_size(entry)), '\0');
      EXPECT_EQ(::archive_read_data(reader, bytes.data(), bytes.size()),
                static_cast<la_ssize_t>(bytes.size()));
      entries.emplace(::archive_entry_pathname(entry), bytes);
    }
    ::archive_read_free(reader);
    return entries;
  }
};

TEST_F(FolderHandlers, SummarizeCounts) {
  Put("run/a", "12345");
  Put("run/d/b", "123");
  Put("running", "1");
  EXPECT_EQ(Text(Summary("run/"), "/objects"), "2");
  EXPECT_EQ(Text(Summary("run/"), "/bytes"), "8");
  EXPECT_EQ(Text(Summary(""), "/objects"), "3");
  EXPECT_NE(Text(Summary("run/"), "/newest"), "(absent)");
  const ClientResponse nothing = Summary("nowhere/");
  EXPECT_EQ(nothing.status, 200);
  EXPECT_EQ(Text(nothing, "/objects"), "(absent)");
  EXPECT_EQ(Text(nothing, "/newest"), "(absent)");
}

TEST_F(FolderHandlers, MistakesAreNamed) {
  Put("a", "1");
  EXPECT_EQ(Summary("run").status, 400);
  EXPECT_EQ(Send(Method::kDelete, kFolder).status, 400);
  EXPECT_EQ(Media("a").status, 200);
  EXPECT_EQ(Download("prefix=&format=rar").status, 400);
  EXPECT_EQ(Send(Method::kGet, "/trainyard/v1/buckets/absent/folder:summarize?prefix=").status, 404);
  EXPECT_EQ(Send(Method::kGet, "/trainyard/v1/buckets/absent/folder:download?prefix=").status, 404);
  EXPECT_EQ(Send(Method::kDelete, "/trainyard/v1/buckets/absent/folder?prefix=").status, 404);
}

TEST_F(FolderHandlers, DownloadIsAnArchive) {
  Put("jobs/run%201/a", "12345");
  Put("jobs/run%201/d%2Fb", std::string(3'000'000, 'x'));
  Put("jobs/run%201/d%2F..%2F..%2Fescape", "1");
  Put("jobs/run%201/", "");
  Put("jobs/run%201/empty/", "");
  Put("jobs/run%201/both", "2");
  Put("jobs/run%201/both/more", "3");
  Put("jobs/other", "1");
  const ClientResponse response =
      Send(Method::kGet, std::string(kFolder) + ":download?format=tar&prefix=jobs/run%201/");
  EXPECT_EQ(response.headers.Get("Content-Disposition"), "attachment; filename=\"run_1.tar\"");
  EXPECT_EQ(response.headers.Get("Content-Type"), "application/x-tar");
  EXPECT_THAT(Entries(response.body),
              ElementsAre(Pair("run_1/a", "12345"), Pair("run_1/both", "2"), Pair("run_1/both%2F/more", "3"),
                          Pair("run_1/d/%2E%2E/%2E%2E/escape", "1"),
                          Pair("run_1/d/b", std::string(3'000'000, 'x')), Pair("run_1/empty/", "")));
  EXPECT_TRUE(
      Entries(Send(Method::kGet, std::string(kFolder) + ":download?format=tar&prefix=none/").body).empty());
  const ClientResponse zip = Send(Method::kGet, std::string(kFolder) + ":download?prefix=jobs/");
  EXPECT_EQ(zip.headers.Get("Content-Type"), "application/zip");
  EXPECT_TRUE(zip.body.starts_with("PK"));
}

TEST_F(FolderHandlers, DeleteTakesPartAfterPart) {
  constexpr int kCount = 5'100;
  Put("keep", "1");
  std::filesystem::create_directories(folder_ / "buckets/bucket/run/deep");
  for (int i = 0; i < kCount; ++i)
    std::ofstream(folder_ / "buckets/bucket/run/deep" / std::to_string(i)) << i;
  int removed = 0;
  int parts = 0;
  for (bool more = true; more; ++parts) {
    ASSERT_LT(parts, 100);
    const ClientResponse part = Send(Method::kDelete, std::string(kFolder) + "?prefix=run/");
    ASSERT_EQ(part.status, 200) << part.body;
    const std::string count = Text(part, "/objects");
    removed += count == "(absent)" ? 0 : std::stoi(count);
    more = Text(part, "/more") == "true";
  }
  EXPECT_EQ(removed, kCount);
  EXPECT_GT(parts, 1);
  EXPECT_EQ(Text(Summary(""), "/objects"), "1");
  EXPECT_EQ(Media("keep").body, "1");
}

}  // namespace
}  // namespace trainyard::api
