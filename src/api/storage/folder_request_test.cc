#include "api/storage/folder_handlers.h"

#include <gtest/gtest.h>

namespace trainyard::api {
namespace {

Result<std::string> Folder(std::vector<std::pair<std::string, std::string>> query) {
  http::Request request;
  request.query = std::move(query);
  return ReadFolder(request);
}

TEST(ReadFolder, TakesFoldersAndTheWholeBucket) {
  EXPECT_EQ(Folder({{"prefix", "a/b/"}}), "a/b/");
  EXPECT_EQ(Folder({{"prefix", ""}}), "");
  EXPECT_EQ(Folder({{"prefix", "/"}}), "/");
  EXPECT_EQ(Folder({{"prefix", "../"}}), "../");  // a name like any other
}

TEST(ReadFolder, SaysWhatIsWrong) {
  const auto message = [](const Result<std::string>& folder) {
    EXPECT_EQ(folder.error().field, "prefix");
    return folder.error().message;
  };
  EXPECT_EQ(message(Folder({})),
            "This parameter is required: a folder, such as \"run_1/\", or \"\" for the whole bucket");
  EXPECT_EQ(message(Folder({{"prefix", "a"}})), "Must end in \"/\", or be empty for the whole bucket");
  EXPECT_EQ(message(Folder({{"prefix", "\xff/"}})), "Must be UTF-8");
  EXPECT_EQ(message(Folder({{"prefix", std::string(1 << 20, 'a') + "/"}})),
            "Must not be longer than 1024 bytes");
}

TEST(NameOfFolder, IsSafe) {
  EXPECT_EQ(NameOfFolder("b", "jobs/run 1/"), "run_1");
  EXPECT_EQ(NameOfFolder("b", "a/../"), "_..");
  EXPECT_EQ(NameOfFolder("b", "/"), "_");
  EXPECT_EQ(NameOfFolder("my.bucket", ""), "my.bucket");
}

}  // namespace
}  // namespace trainyard::api
