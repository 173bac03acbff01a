#include "rules/container/program.h"

namespace trainyard::container {

Result<std::vector<std::string>> ProgramOf(const ImageConfig& image,
                                           const replica::v1::Manifest::Container& container) {
  const bool own_command = container.command_size() > 0;
  const bool own_args = container.args_size() > 0;
  std::vector<std::string> program;
  if (own_command) {
    program.assign(container.command().begin(), container.command().end());
  } else {
    program = image.entrypoint;
  }
  if (own_args) {
    program.insert(program.end(), container.args().begin(), container.args().end());
  } else if (!own_command) {
    program.insert(program.end(), image.command.begin(), image.command.end());
  }
  if (program.empty() || program.front().empty()) {
    return std::unexpected(
        FailedPrecondition("the image has neither ENTRYPOINT nor CMD, and the job gives no command to run"));
  }
  program.insert(program.end(), container.service_args().begin(), container.service_args().end());
  return program;
}

}  // namespace trainyard::container
