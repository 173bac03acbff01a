#include "cli/run/notebook.h"

#include <gtest/gtest.h>

#include "cli/gcloud/json_value.h"

namespace trainyard::cli::notebook_test {
namespace {

const std::string kPrelude =
    "try:\n    display\nexcept NameError:\n    def display(*things):\n        print(*things)\n";

std::string Notebook(const std::vector<std::string>& cells) {
  std::string list;
  for (const std::string& cell : cells) {
    Json source = JsonString(cell);
    list += std::string(list.empty() ? "" : ",") + R"({"cell_type": "code", "source": )" +
            PrintCompact(source) + "}";
  }
  return R"({"cells": [{"cell_type": "markdown", "source": ["# !title"]},)" + list + R"(], "nbformat": 4})";
}

TEST(Notebook, CodeCellsBecomeAScript) {
  const char* notebook = R"json({"cells": [
      {"cell_type": "code", "source": ["import os\n", "x = 1"]}, {"cell_type": "raw", "source": "no"},
      {"cell_type": "code", "source": "print(x)"}], "metadata": {"kernelspec": {"language": "python"}}})json";
  EXPECT_EQ(ReadNotebook(notebook),
            (NotebookScript{kPrelude + "# cell 1\nimport os\nx = 1\n# cell 2\nprint(x)\n", {}}));
}

TEST(Notebook, ImportsFromTheFutureComeFirst) {
  EXPECT_EQ(ReadNotebook(Notebook({"x = 1",
                                   "from __future__ import annotations; y = 2\n"
                                   "from __future__ import (\n    division,  # as in 3\n)\nz = 3"})),
            (NotebookScript{"from __future__ import annotations\n"
                            "from __future__ import (\n    division,  # as in 3\n)\n" +
                                kPrelude + "# cell 1\nx = 1\n# cell 2\ny = 2\n\n\n\nz = 3\n",
                            {}}));
}

TEST(Notebook, ACommentBehindAnImportFromTheFutureIsNoCode) {
  EXPECT_EQ(ReadNotebook(Notebook({"from __future__ import annotations  # a; b"})),
            (NotebookScript{"from __future__ import annotations  # a; b\n" + kPrelude + "# cell 1\n\n", {}}));
}

struct Row {
  const char* name;
  const char* cell;
  const char* source;
  std::vector<std::string> requirements;
};
class NotebookMagic : public testing::TestWithParam<Row> {};
TEST_P(NotebookMagic, IsLeftOutOrDone) {
  EXPECT_EQ(ReadNotebook(Notebook({GetParam().cell})),
            (NotebookScript{kPrelude + "# cell 1\n" + GetParam().source, GetParam().requirements}));
}
INSTANTIATE_TEST_SUITE_P(
    Notebook, NotebookMagic,
    testing::Values(Row{"matplotlib", "%matplotlib inline\nx = 7 % 3", "pass\nx = 7 % 3\n", {}},
                    Row{"indented", "if True:\n    %autoreload 2", "if True:\n    pass\n", {}},
                    Row{"time_of_a_line", "%time train()", "train()\n", {}},
                    Row{"time_of_a_cell", "%%time\ntrain()", "\ntrain()\n", {}},
                    Row{"html", "%%html\n<b>x</b>", "", {}}, Row{"help", "train?", "pass\n", {}},
                    Row{"pip", "!pip install -q 'pandas>=2' numpy", "pass\n", {"pandas>=2", "numpy"}},
                    Row{"pip_of_an_address",
                        "!pip install git+https://host/b#egg=b",
                        "pass\n",
                        {"b @ git+https://host/b"}},
                    Row{"pip_magic", "%pip install scipy\nimport scipy", "pass\nimport scipy\n", {"scipy"}},
                    Row{"no_magic", "a = (b\n  % c)", "a = (b\n  % c)\n", {}}),
    [](const auto& row) { return row.param.name; });

TEST(Notebook, ALineThatLooksLikeTheBeginOfACellIsNone) {
  EXPECT_EQ(ReadNotebook(Notebook({"# cell 2\n# cell two"}))->source,
            kPrelude + "# cell 1\n# cell 2 \n# cell two\n");
}

TEST(Notebook, TheScriptHasItsCellsRunAndTheNotebookComesAlong) {
  const std::string json = Notebook({"x = 1"});
  const std::vector<ProgramFile> files = NotebookFiles("look \"me\".ipynb", json, *ReadNotebook(json));
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].path, "trainyard_cells.py");
  EXPECT_EQ(files[0].bytes, kPrelude + "# cell 1\nx = 1\n");
  EXPECT_EQ(files[1].path, "look \"me\".ipynb");
  EXPECT_EQ(files[1].bytes, json);
  EXPECT_EQ(files[2].path, kNotebookProgram);
  EXPECT_TRUE(
      files[2].bytes.ends_with("\n\nif __name__ == \"__main__\":\n    run(\"look \\\"me\\\".ipynb\")\n"));
  EXPECT_NE(files[2].bytes.find("def run(notebook):"), std::string::npos);
}

struct Bad {
  const char* name;
  const char* cell;
};
class CellRefused : public testing::TestWithParam<Bad> {};
TEST_P(CellRefused, WithTheCellsNumber) {
  const auto read = ReadNotebook(Notebook({"x = 1", GetParam().cell}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            std::string("cell 2 has `") + GetParam().cell +
                "`, which only works in a notebook. Remove the line, or write it in Python");
}
INSTANTIATE_TEST_SUITE_P(Notebook, CellRefused,
                         testing::Values(Bad{"shell", "!ls -la"}, Bad{"folder", "%cd data"},
                                         Bad{"bash", "%%bash"},
                                         Bad{"pip_file", "!pip install -r requirements.txt"},
                                         Bad{"pip_and_more", "!pip install numpy && ls"}),
                         [](const auto& row) { return row.param.name; });

TEST(Notebook, OfAnotherKindIsRefused) {
  EXPECT_EQ(ReadNotebook("{}").error().message,
            "this is not a notebook of format 4: it has no list of cells");
  EXPECT_TRUE(
      ReadNotebook("print(1)").error().message.starts_with("this is not a notebook: it is not JSON: "));
  EXPECT_EQ(
      ReadNotebook(R"({"cells": [], "metadata": {"kernelspec": {"language": "julia"}}})").error().message,
      "the notebook is written in julia, not in Python");
  EXPECT_EQ(ReadNotebook(R"({"cells": []})").error().message, "the notebook has no code");
}

}  // namespace
}  // namespace trainyard::cli::notebook_test
