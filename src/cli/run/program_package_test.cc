#include "cli/run/program_package.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class ProgramPackage : public testing::Test {
 protected:
  ProgramPackage() { fs::current_path(folder_.path()); }
  ~ProgramPackage() override { fs::current_path(before_); }

  static void Write(const std::string& path, const std::string& text = "") {
    if (fs::path(path).has_parent_path()) fs::create_directories(fs::path(path).parent_path());
    ASSERT_TRUE(WriteFileAtomically(path, text));
  }
  static Words PathsOf(const LocalProgram& program) {
    Words paths;
    for (const ProgramFile& file : program.package.files) paths.push_back(file.path);
    return paths;
  }
  static std::string RefusalOf(const std::string& word, Words args = {}) {
    const Result<LocalProgram> program = ReadProgram(word, args);
    return program ? "" : program.error().message;
  }

  fs::path before_ = fs::current_path();
  TemporaryFolder folder_;
};

TEST_F(ProgramPackage, AScriptIsRunFromItsFolder) {
  Write("mine/train.py", "import torch\n");
  Write("mine/helper.py");
  Write("mine/requirements.txt", "numpy\n");
  Write("other.py");
  Words args = {"--x"};
  const auto program = ReadProgram("mine/train.py", args);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->name, "train");
  EXPECT_EQ(program->package.command, Words{"train.py"});
  EXPECT_EQ(PathsOf(*program), (Words{"helper.py", "requirements.txt", "train.py"}));
  EXPECT_EQ(program->package.requirements, Words{"numpy"});
  EXPECT_EQ(program->sources.front().path, "train.py");
  EXPECT_EQ(args, Words{"--x"});
}

TEST_F(ProgramPackage, ANotebookIsDataOfTheProgramThatRunsIt) {
  Write("n/look.ipynb", R"({"cells": [{"cell_type": "code", "source": "!pip install scipy\nx = 1"}]})");
  Write("n/pyproject.toml", "[project]\ndependencies = ['numpy']\n");
  Words args;
  const auto program = ReadProgram("n/look.ipynb", args);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->name, "look");
  EXPECT_EQ(program->package.command, Words{"trainyard_notebook.py"});
  EXPECT_EQ(program->package.requirements, (Words{"numpy", "scipy"}));
  Words paths;
  for (const ProgramFile& file : program->package.files) paths.push_back(file.path);
  EXPECT_THAT(paths, testing::UnorderedElementsAre("pyproject.toml", "trainyard_cells.py", "look.ipynb",
                                                   "trainyard_notebook.py"));
  Write("n/look.py");
  EXPECT_EQ(RefusalOf("n/look.ipynb"), "");
}

TEST_F(ProgramPackage, APackageIsRunByItsName) {
  Write("trainer/__init__.py");
  Write("trainer/task.py");
  Write("trainer/words.txt");
  Write("notes.txt");
  Words args;
  const auto program = ReadProgram("trainer/", args);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->name, "trainer");
  EXPECT_EQ(program->package.command, (Words{"-m", "trainer.task"}));
  EXPECT_EQ(PathsOf(*program), (Words{"trainer/__init__.py", "trainer/task.py", "trainer/words.txt"}));
  Write("trainer/__main__.py");
  EXPECT_EQ(ReadProgram("trainer", args)->package.command, (Words{"-m", "trainer"}));
}

TEST_F(ProgramPackage, AModuleIsTakenOutOfTheArguments) {
  Write("trainer/__init__.py");
  Write("trainer/fit.py", "import tensorflow\n");
  Words args = {"trainer.fit", "--x"};
  const auto program = ReadProgram("-m", args);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->name, "fit");
  EXPECT_EQ(program->package.command, (Words{"-m", "trainer.fit"}));
  EXPECT_EQ(program->sources.front().path, "trainer/fit.py");
  EXPECT_EQ(args, Words{"--x"});
}

TEST_F(ProgramPackage, AFolderWithAMainFileIsRunWhereItIs) {
  Write("mine/__main__.py");
  Words args;
  const auto program = ReadProgram("mine", args);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->package.command, Words{"."});
  EXPECT_EQ(program->name, "mine");
}

TEST_F(ProgramPackage, SaysWhatIsNoProgram) {
  Write("notes.txt");
  Write("empty/a.txt");
  Write("pkg/__init__.py");
  Write("bad/train.py");
  Write("bad/requirements.txt", "-e .\n");
  EXPECT_EQ(RefusalOf("nope.py"), "there is no program nope.py: no such file or folder");
  EXPECT_EQ(RefusalOf("notes.txt"),
            "notes.txt is neither a Python file (.py) nor a notebook (.ipynb); to run a command of an image, "
            "use --image");
  EXPECT_EQ(
      RefusalOf("empty"),
      "the folder empty has no __main__.py and is not a package: specify the file to run, empty/train.py");
  EXPECT_EQ(RefusalOf("pkg"),
            "the package pkg has no __main__.py, task.py, train.py or main.py: specify the module to run "
            "with -m pkg.MODULE");
  EXPECT_EQ(RefusalOf("-m"), "argument -m: expected the name of a module");
  EXPECT_EQ(RefusalOf("-m", {"nope.x"}),
            "there is no module nope in " + fs::current_path().string() + " (the current folder)");
  EXPECT_EQ(RefusalOf("bad/train.py"),
            "requirements.txt:1: `-e .` is an option of pip, which is not supported here: remove it");
}

}  // namespace
}  // namespace trainyard::cli
