#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "base/process/kernel_calls.h"
#include "programs/runtimes/pod_container.h"
#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// A real supervisor whose program runs where the starter is: beside it, as in the other container of a pod.
class PodTest : public AttemptFixture {
 protected:
  PodTest() {
    v1::Manifest::Program& program = *manifest_.mutable_program();
    program.clear_runtime_version();
    program.clear_python_module();
    v1::Manifest::Container& container = *program.mutable_container();
    container.set_image("gcr.io/p/trainer:v1");
    container.set_digest("sha256:0123");
    container.set_runtime_kind(v1::Manifest::POD_CONTAINER);
    container.set_runtime_address(Path("socket"));
    container.mutable_image_program()->add_entrypoint("/bin/sh");
  }
  ~PodTest() override {
    if (starter_ < 0) return;
    kill(starter_, SIGTERM);
    EXPECT_EQ(WaitForChild(starter_), 0) << "no program is left in the container";
  }

  void SetUp() override {
    fs::create_directories(Path("pod"));
    ASSERT_TRUE(WritePodStarter(Path("starter")));
    std::string program = Path("starter");
    std::string socket = Path("socket");
    std::string own = "OF_IMAGE=yes";
    const std::array<char*, 3> argv = {program.data(), socket.data(), nullptr};
    const std::array<char*, 2> variables = {own.data(), nullptr};
    starter_ = fork();
    if (starter_ == 0) {
      execve(program.c_str(), argv.data(), variables.data());
      _exit(99);
    }
    while (!fs::exists(socket)) ASSERT_EQ(waitpid(starter_, nullptr, WNOHANG), 0);
  }

  [[nodiscard]] std::string Path(const std::string& name) const { return folder_.path() + "/pod/" + name; }
  void Script(const std::string& script) {
    v1::Manifest::Container& container = *manifest_.mutable_program()->mutable_container();
    container.mutable_image_program()->clear_command();
    for (const char* word : {"-c", script.c_str()}) container.mutable_image_program()->add_command(word);
  }
  v1::ExitRecord RunScript(const std::string& script) {
    Script(script);
    Run();
    return Finish();
  }

  pid_t starter_ = -1;
};

TEST_F(PodTest, RunsTheImagesProgramThere) {
  const v1::ExitRecord exit = RunScript("echo $OF_IMAGE $HOSTNAME; echo oops >&2; exit 3");
  EXPECT_EQ(exit.cause(), v1::ExitRecord::EXITED);
  EXPECT_EQ(exit.exit_code(), 3);
  EXPECT_THAT(UserLines(), testing::UnorderedElementsAre("INFO yes " + manifest_.host_name(), "ERROR oops"));
  EXPECT_THAT(
      Lines(),
      Contains("INFO Running the image gcr.io/p/trainer:v1 (sha256:0123) as a container of the pod."));
}

TEST_F(PodTest, TheJobsCommandReplacesTheImages) {
  v1::Manifest::Container& container = *manifest_.mutable_program()->mutable_container();
  for (const char* word : {"/bin/echo", "own"}) container.add_command(word);
  container.add_args("arg");
  container.add_service_args("--job-dir=gs://b/j");
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
  EXPECT_THAT(UserLines(), ElementsAre("INFO own arg --job-dir=gs://b/j"));
}

TEST_F(PodTest, AMetricIsReadFromTheFolderThatBothHave) {
  manifest_.set_metric_tag("acc");
  const v1::ExitRecord exit = RunScript(
      "printf '{\"timestamp\":1,\"trial\":\"1\",\"acc\":\"0.5\",\"global_step\":\"3\"}\\n' "
      "> \"$CLOUD_ML_HP_METRIC_FILE\"");
  EXPECT_EQ(exit.exit_code(), 0);
  ASSERT_EQ(exit.metrics().measurements_size(), 1);
  EXPECT_EQ(exit.metrics().measurements(0).value(), 0.5);
}

TEST_F(PodTest, StopsWithTheImagesSignal) {
  manifest_.mutable_program()->mutable_container()->mutable_image_program()->set_stop_signal("SIGINT");
  Script("trap 'echo told; exit 0' INT; echo ready; while :; do sleep 0.01; done");
  Run();
  ASSERT_TRUE(WaitForLine("ready"));
  Stop("cancelled");
  EXPECT_EQ(Finish().cause(), v1::ExitRecord::STOPPED);
  EXPECT_THAT(UserLines(), Contains("INFO told"));
}

TEST_F(PodTest, WhatCannotBeRunSaysWhy) {
  *manifest_.mutable_program()->mutable_container()->mutable_command()->Add() = "/no/such";
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_THAT(exit.message(), HasSubstr("/no/such: the image has no such file"));
}

TEST_F(PodTest, PackagesAreNotInstalledIntoItsImage) {
  v1::Manifest::Program& program = *manifest_.mutable_program();
  program.set_python_module("trainer.task");
  program.add_packages()->set_uri("gs://b/p.tar.gz");
  StartServer();
  StartSupervisor(options_);
  EXPECT_THAT(WaitForExit().message(),
              HasSubstr("Python packages cannot be installed into the image gcr.io/p/trainer:v1 in a pod"));
  Finish();
}

}  // namespace
}  // namespace trainyard::replica
