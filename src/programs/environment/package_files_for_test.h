#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/process/run_tool.h"

namespace trainyard::environment {

inline constexpr const char* kSystemPython = "/usr/bin/python3.11";

inline void WriteText(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

inline std::string ReadText(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The output of a program that must succeed, lines joined by '\n'.
inline std::string Output(const std::vector<std::string>& argv,
                          std::map<std::string, std::optional<std::string>> variables = {}) {
  const auto end = RunTool({argv, std::move(variables)}, {}, {}, {});
  EXPECT_TRUE(end && end->ok()) << argv.back() << "\n"
                                << (end && !end->tail.empty() ? end->tail.back() : std::string());
  std::string text;
  if (end)
    for (const std::string& line : end->tail) text += (text.empty() ? "" : "\n") + line;
  return text;
}

/// NAME-VERSION.tar.gz as `setup.py sdist` makes it: one module trainer.task, which prints the arguments
/// after `says`, and the command `trainer-says`. @param setup_lines  Python put at the top of setup.py.
/// @param extra  further arguments of setup().
inline std::filesystem::path MakeSdist(const std::filesystem::path& folder, const std::string& version,
                                       const std::string& says, const std::string& setup_lines = {},
                                       const std::string& extra = {}) {
  const std::filesystem::path source = folder / ("source-" + version);
  WriteText(source / "trainer/__init__.py", "");
  WriteText(source / "trainer/task.py",
            "import sys\n\n\ndef main():\n    print('" + says +
                "', *sys.argv[1:])\n\n\nif __name__ == '__main__':\n    main()\n");
  WriteText(source / "setup.py",
            setup_lines + "\nfrom setuptools import setup\nsetup(name='trainer', version='" + version +
                "', packages=['trainer'], entry_points={'console_scripts': "
                "['trainer-says = trainer.task:main']}, " +
                extra + ")\n");
  const std::filesystem::path file = folder / ("trainer-" + version + ".tar.gz");
  Output({"/bin/tar", "-czf", file, "-C", folder, "--transform", "s/^source-/trainer-/", source.filename()});
  return file;
}

/// Makes NAME-VERSION-py3-none-any.whl with a module NAME, whose `version` is VERSION, and the command
/// NAME-version.
inline std::filesystem::path MakeWheel(const std::filesystem::path& folder, const std::string& name,
                                       const std::string& version) {
  constexpr const char* kScript = R"(
import sys, zipfile
folder, name, version = sys.argv[1:]
info = name + '-' + version + '.dist-info/'
path = folder + '/' + name + '-' + version + '-py3-none-any.whl'
files = {name + '.py': 'version = %r\n\n\ndef main():\n    import sys\n    print(version, sys.prefix)\n' % version,
         info + 'METADATA': 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' % (name, version),
         info + 'WHEEL': 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
         info + 'entry_points.txt': '[console_scripts]\n%s-version = %s:main\n' % (name, name)}
with zipfile.ZipFile(path, 'w') as archive:
    for file, text in files.items():
        archive.writestr(file, text)
    archive.writestr(info + 'RECORD', ''.join(file + ',,\n' for file in [*files, info + 'RECORD']))
print(path)
)";
  return Output({kSystemPython, "-c", kScript, folder, name, version});
}

}  // namespace trainyard::environment
