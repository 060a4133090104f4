#pragma once
// Inside: what E2B's clients do in a sandbox: run code in its contexts, read and write files, run
// commands. The sandbox is named by a header, and its secret is the permission. Loop thread only.

#include "service/apis/e2b/commands.h"
#include "service/apis/e2b/envd.h"
#include "service/apis/e2b/parts.h"
#include "service/apis/e2b/request.h"

namespace service::e2b {

class Inside {
 public:
  Inside(Parts parts, Lost lost) : parts_(parts), lost_(std::move(lost)) {}
  Routes routes();

 private:
  using Asked = void (Inside::*)(const ExchangePtr& exchange, const std::string& parameter);
  using Outcome = Steps::Outcome;
  Route route(Method method, std::string_view pattern, Asked asked);

  void health(const ExchangePtr& exchange, const std::string&);
  void execute(const ExchangePtr& exchange, const std::string&);
  void read_file(const ExchangePtr& exchange, const std::string&);
  void write_files(const ExchangePtr& exchange, const std::string&);
  void file_call(const ExchangePtr& exchange, const std::string& method);
  void process_call(const ExchangePtr& exchange, const std::string& method);

  // Reads the body, which may be long, and then goes on in the sandbox, if it is still there.
  template <typename Read>
  using ThenIn = void (Inside::*)(const ExchangePtr& exchange, Sandbox& sandbox, Read read);
  template <typename Read>
  void read_body(const ExchangePtr& exchange, Read (*read)(const Request& request),
                 ThenIn<Read> then);
  using ReadCode = std::variant<Execution, Response>;
  using ReadFiles = std::variant<std::pair<Order, std::vector<runtime::InputFile>>, Response>;
  using ReadCommand = std::variant<Order, RpcError>;
  static ReadCode read_code(const Request& request);
  static ReadFiles read_files(const Request& request);
  static ReadCommand read_command(const Request& request);
  void run_code(const ExchangePtr& exchange, Sandbox& sandbox, ReadCode read);
  void write_read(const ExchangePtr& exchange, Sandbox& sandbox, ReadFiles read);
  void run_command(const ExchangePtr& exchange, Sandbox& sandbox, ReadCommand read);
  void kill_command(const ExchangePtr& exchange, Sandbox& sandbox);
  Steps::Told told_of_command(Sandbox& sandbox, const Commands::CommandPtr& command);

  Steps::Task code_task(const ExchangePtr& exchange, Execution execution, const Sandbox& sandbox,
                        const std::string& context);
  // An order in the usual context, which is answered by `words`, or where it cannot be done by
  // `refused`.
  using Refused = Response (*)(const RpcError& error);
  void obey(const ExchangePtr& exchange, Sandbox& sandbox, const Order& order,
            Dispatcher::Words words, Refused refused, std::vector<runtime::InputFile> files = {});
  // Variables of one execution are not those of the next.
  void restore(const std::string& sandbox, const std::string& context, const nlohmann::json& env);
  void settle(const Sandbox& sandbox, Context& context);
  RpcError note_refusal(const std::string& sandbox, const std::string& context,
                        const ForeignSessions::Refusal& refusal);

  const Parts parts_;
  const Lost lost_;
  Commands commands_;
};

}  // namespace service::e2b
