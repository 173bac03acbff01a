#include "cli/storage/upload.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>

#include "cli/command_session.h"
#include "cli/jobs/package_builder.h"
#include "cli/scratch_directory.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// Plays answers and keeps what it was asked.
class FakeServer : public ApiClient {
 public:
  Result<ApiResponse> Send(const ApiRequest& request) override {
    requests.push_back(request);
    if (answers.empty()) return std::unexpected(Unavailable("gone"));
    Result<ApiResponse> answer = answers.front();
    answers.pop_front();
    return answer;
  }
  std::deque<Result<ApiResponse>> answers;
  std::vector<ApiRequest> requests;
};

std::string Stored(std::uint64_t size) {
  return R"({"bucket":"b","name":"o","size":")" + std::to_string(size) + "\"}";
}

std::string Field(const ApiRequest& request, const std::string& name) {
  for (const auto& [key, value] : request.headers)
    if (key == name) return value;
  return "";
}

class Upload : public testing::Test {
 protected:
  std::string File(std::size_t size) {
    fs::path path = folder_->path() / "f.tar.gz";
    Write(path, std::string(size, 'x'));
    return path;
  }
  Result<std::string> Run(const std::string& path) {
    return UploadFile(server_, console_, path, "bucket", "a/o");
  }

  Result<ScratchDirectory> folder_ = ScratchDirectory::Make();
  FakeServer server_;
  Console console_{{}};
};

TEST_F(Upload, SmallFilesGoInOnePiece) {
  server_.answers.emplace_back(ApiResponse{.status = 200, .body = Stored(3)});
  EXPECT_EQ(*Run(File(3)), "gs://b/o");
  ASSERT_EQ(server_.requests.size(), 1U);
  EXPECT_EQ(Target(server_.requests[0]),
            "/upload/storage/v1/b/bucket/o?alt=json&name=a%2Fo&uploadType=multipart");
  EXPECT_NE(server_.requests[0].body.find("\r\n\r\nxxx\r\n--"), std::string::npos);
}

TEST_F(Upload, TheBoundaryIsNotInTheContent) {
  fs::path path = folder_->path() / "f";
  Write(path, "--trainyard-part and trainyard-part-0");
  server_.answers.emplace_back(ApiResponse{.status = 200, .body = Stored(37)});
  ASSERT_TRUE(Run(path).has_value());
  EXPECT_EQ(Field(server_.requests[0], "Content-Type"), "multipart/related; boundary=\"trainyard-part-1\"");
}

TEST_F(Upload, ABrokenUploadGoesOnWhereItBroke) {
  std::size_t size = 6 << 20;
  server_.answers.emplace_back(ApiResponse{.status = 200, .location = "http://h/s?id=1"});
  server_.answers.emplace_back(std::unexpected(Unavailable("reset")));
  server_.answers.emplace_back(ApiResponse{.status = 308, .range = "bytes=0-99"});
  server_.answers.emplace_back(ApiResponse{.status = 308});
  server_.answers.emplace_back(ApiResponse{.status = 308});
  server_.answers.emplace_back(ApiResponse{.status = 200, .body = Stored(size)});
  EXPECT_EQ(*Run(File(size)), "gs://b/o");
  ASSERT_EQ(server_.requests.size(), 6U);
  EXPECT_EQ(server_.requests[1].path, "/s?id=1");
  EXPECT_EQ(Field(server_.requests[1], "Content-Range"), "bytes 0-6291455/6291456");
  EXPECT_EQ(Field(server_.requests[2], "Content-Range"), "bytes */6291456");
  EXPECT_EQ(Field(server_.requests[3], "Content-Range"), "bytes 100-6291455/6291456");
  EXPECT_EQ(server_.requests[3].file->offset, 100U);
  EXPECT_EQ(Field(server_.requests[5], "Content-Range"), "bytes 0-6291455/6291456");
}

TEST_F(Upload, GivesUpOnAServerThatForgets) {
  server_.answers.emplace_back(ApiResponse{.status = 200, .location = "/s"});
  for (int i = 0; i < 20; ++i) server_.answers.emplace_back(ApiResponse{.status = 308});
  EXPECT_FALSE(Run(File(6 << 20)).has_value());
}

TEST_F(Upload, SaysWhatIsWrong) {
  EXPECT_EQ(Run("/nope").error().message,
            "Unable to read file [/nope]: [Errno 2] No such file or directory: '/nope'");
  EXPECT_EQ(Run("/").error().message, "Unable to read file [/]: [Errno 21] Is a directory: '/'");
  std::string path = File(3);
  server_.answers.emplace_back(ApiResponse{.status = 404});
  EXPECT_EQ(Run(path).error().message, "Could not upload file: [bucket] bucket does not exist.");
  server_.answers.emplace_back(ApiResponse{.status = 507, .body = "disk full"});
  EXPECT_EQ(Run(path).error().message, "507 Could not upload file [" + path + "] to [bucket/a/o]: disk full");
  for (const char* answer : {"", "{}", "cut {", R"({"size":"4"})"}) {
    server_.answers.emplace_back(ApiResponse{.status = 200, .body = answer});
    EXPECT_EQ(Run(path).error().code, Code::kDataLoss) << answer;
  }
  EXPECT_EQ(Run(path).error().code, Code::kUnavailable);
}

TEST_F(Upload, ErrorTexts) {
  EXPECT_EQ(ErrorText({.status = 502, .body = "<html>"}), "HTTPError 502: <html>");
  EXPECT_EQ(ErrorText({.status = 404, .body = R"({"error":{"code":404,"message":"m"}})"}),
            "HTTPError 404: m");
  EXPECT_EQ(
      ErrorText({.status = 400,
                 .body = R"({"error":{"status":"INVALID_ARGUMENT","message":"m","details":[{"a":"b"}]}})"}),
      "INVALID_ARGUMENT: m\n- a: b");
}

class Package : public testing::Test {
 protected:
  Result<std::vector<std::string>> Build() {
    fs::path output = folder_->path() / "output";
    fs::create_directories(output);
    return BuildPackage(root_ / "trainer", folder_->path() / "scratch", output);
  }
  std::vector<std::string> Names(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      names.push_back(entry.path().lexically_relative(folder));
    std::ranges::sort(names);
    return names;
  }

  Result<ScratchDirectory> folder_ = ScratchDirectory::Make();
  fs::path root_ = folder_->path() / "user";
};

TEST_F(Package, LeavesNothingBesideTheSource) {
  Write(root_ / "trainer/__init__.py", "");
  Write(root_ / "trainer/sub/__init__.py", "");
  std::vector<std::string> before = Names(root_);
  Result<std::vector<std::string>> built = Build();
  ASSERT_TRUE(built.has_value()) << built.error().message;
  ASSERT_EQ(built->size(), 1U);
  EXPECT_EQ(fs::path(built->front()).filename(), "trainer-0.0.0.tar.gz");
  EXPECT_EQ(Names(root_), before);
}

TEST_F(Package, BuildsWhereNothingCanBeWritten) {
  Write(root_ / "trainer/__init__.py", "");
  Write(root_ / "setup.py",
        "from setuptools import setup\nimport trainer\nsetup(name='n', version='1', packages=['trainer'])\n");
  fs::permissions(root_, fs::perms::owner_read | fs::perms::owner_exec);
  std::vector<std::string> before = Names(root_);
  Result<std::vector<std::string>> built = Build();
  ASSERT_TRUE(built.has_value()) << built.error().message;
  EXPECT_EQ(fs::path(built->front()).filename(), "n-1.tar.gz");
  EXPECT_EQ(Names(root_), before);
  fs::permissions(root_, fs::perms::owner_all);
}

TEST_F(Package, SaysWhatSetupSaid) {
  Write(root_ / "trainer/__init__.py", "");
  Write(root_ / "setup.py", "raise SystemExit('no, thanks')\n");
  Result<std::vector<std::string>> built = Build();
  ASSERT_FALSE(built.has_value());
  EXPECT_TRUE(
      built.error().message.starts_with("Packaging of user Python code failed with message:\n\nno, thanks\n"))
      << built.error().message;
}

TEST_F(Package, NeedsAnInit) {
  fs::create_directories(root_ / "trainer");
  EXPECT_TRUE(
      CheckPackagePath(root_ / "trainer")
          .error()
          .message.starts_with("[" + (root_ / "trainer").string() + "] is not a valid Python package"));
  EXPECT_TRUE(CheckPackagePath(root_ / "no/trainer").error().message.starts_with("Source directory ["));
}

TEST(MakeApiClient, SaysHowToStartAServer) {
  Result<std::unique_ptr<ApiClient>> client = MakeApiClient({.url = "unix:/nowhere/server.sock"});
  ASSERT_TRUE(client.has_value());
  Result<ApiResponse> answer = (*client)->Send({.path = "/healthz"});
  ASSERT_FALSE(answer.has_value());
  EXPECT_NE(answer.error().message.find("Start a server with `trainyard serve`"), std::string::npos)
      << answer.error().message;
  EXPECT_FALSE(MakeApiClient({.url = "ftp://x"}).has_value());
}

}  // namespace
}  // namespace trainyard::cli
