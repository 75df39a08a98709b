// The grammar of PTX (PTX ISA, chapter 4, syntax). A rule a construct; builder.h says what each of them
// makes.
#pragma once

#include <tao/pegtl.hpp>

namespace qwengpu::ptx::grammar {

namespace p = tao::pegtl;

// ---- Lexical elements ----

struct line_comment : p::seq<p::two<'/'>, p::until<p::eolf>> {};
struct block_comment : p::seq<p::string<'/', '*'>, p::until<p::string<'*', '/'>>> {};
struct skip : p::star<p::sor<p::space, line_comment, block_comment>> {};
template <class Rule>
struct token : p::seq<Rule, skip> {};
template <char C>
struct sign : token<p::one<C>> {};

struct follow : p::sor<p::alnum, p::one<'_', '$'>> {};
struct name : p::seq<p::sor<p::alpha, p::one<'_', '$', '%'>>, p::star<follow>> {};
template <char... C>
struct directive : token<p::seq<p::one<'.'>, p::string<C...>, p::not_at<follow>>> {};

struct unsigned_suffix : p::opt<p::one<'U'>> {};
struct hexadecimal : p::seq<p::one<'0'>, p::one<'x', 'X'>, p::plus<p::xdigit>, unsigned_suffix> {};
struct binary : p::seq<p::one<'0'>, p::one<'b', 'B'>, p::plus<p::one<'0', '1'>>, unsigned_suffix> {};
struct octal : p::seq<p::one<'0'>, p::plus<p::range<'0', '7'>>, unsigned_suffix> {};
struct decimal : p::seq<p::plus<p::digit>, unsigned_suffix, p::not_at<p::one<'.', 'e', 'E'>>> {};
struct integer : p::seq<p::sor<hexadecimal, binary, octal, decimal>, p::not_at<follow>> {};
struct float_bits : p::seq<p::one<'0'>, p::one<'f', 'F'>, p::rep<8, p::xdigit>> {};
struct double_bits : p::seq<p::one<'0'>, p::one<'d', 'D'>, p::rep<16, p::xdigit>> {};
struct exponent : p::seq<p::one<'e', 'E'>, p::opt<p::one<'+', '-'>>, p::plus<p::digit>> {};
struct real
    : p::seq<p::plus<p::digit>, p::sor<p::seq<p::one<'.'>, p::star<p::digit>, p::opt<exponent>>, exponent>> {
};

struct quoted : p::seq<p::one<'"'>, p::until<p::one<'"'>, p::sor<p::seq<p::one<'\\'>, p::any>, p::any>>> {};

// ---- Operands (chapter 6) ----

struct minus : p::one<'-'> {};
struct integer_operand : p::seq<p::opt<minus>, skip, integer> {};
struct bits32_operand : float_bits {};
struct bits64_operand : double_bits {};
struct real_operand : p::seq<p::opt<p::one<'-'>>, real> {};
struct number_operand : token<p::sor<bits32_operand, bits64_operand, integer_operand, real_operand>> {};

// A name, with the component of a vector or special register: %tid.x.
struct component : p::seq<p::one<'.'>, p::plus<follow>> {};
struct name_operand : p::seq<name, p::opt<component>> {};
struct sink : p::seq<p::one<'_'>, p::not_at<follow>> {};

struct offset_sign : p::one<'+', '-'> {};
struct offset_number : integer {};
struct offset_minus : p::one<'-'> {};
struct offset : p::seq<token<offset_sign>, p::opt<token<offset_minus>>, p::must<token<offset_number>>> {};
struct address_base : p::sor<p::seq<name, p::opt<component>>, integer> {};
struct address_open : sign<'['> {};
struct address_close : sign<']'> {};
// Tensor and matrix instructions list several operands; the text behind the first is kept in no form.
struct address_rest : p::seq<sign<','>, p::until<p::at<p::one<']'>>, p::not_one<';', '{'>>> {};
struct address : p::seq<address_open,
                        p::must<token<address_base>, p::opt<offset>, p::opt<address_rest>, address_close>> {};

struct vector_open : sign<'{'> {};
struct vector_close : sign<'}'> {};
struct list_open : sign<'('> {};
struct list_close : sign<')'> {};
struct vector_element : p::sor<number_operand, token<sink>, token<name_operand>> {};
struct vector : p::seq<vector_open, p::must<p::list<vector_element, sign<','>>, vector_close>> {};
struct list : p::seq<list_open, p::must<p::opt<p::list<vector_element, sign<','>>>, list_close>> {};

struct negation : sign<'!'> {};
struct second : p::seq<sign<'|'>, p::must<p::sor<token<sink>, token<name_operand>>>> {};
// A variable's address, plus a constant: table+16.
struct name_offset_number : integer {};
struct name_offset : p::seq<token<offset_sign>, p::must<token<name_offset_number>>> {};
struct plain_operand : p::sor<address, vector, list, number_operand, token<sink>,
                              p::seq<token<name_operand>, p::opt<name_offset>>> {};
struct operand : p::seq<p::opt<negation>, plain_operand, p::opt<second>> {};

// ---- Statements ----

struct guard_not : p::one<'!'> {};
struct guard_name : name {};
struct guard : p::seq<sign<'@'>, p::must<p::opt<token<guard_not>>, token<guard_name>>> {};
struct opcode : p::seq<p::sor<p::alpha, p::one<'_'>>, p::star<p::sor<p::alnum, p::one<'_'>>>> {};
struct modifier : p::plus<p::sor<p::alnum, p::one<'_', ':'>>> {};
struct instruction_end : sign<';'> {};
struct instruction_begin : p::seq<p::opt<guard>, opcode> {};
struct instruction : p::seq<instruction_begin, p::star<p::seq<p::one<'.'>, p::must<modifier>>>, skip,
                            p::must<p::opt<p::list<operand, sign<','>>>, instruction_end>> {};

struct label_name : name {};
struct label : p::seq<token<label_name>, sign<':'>, p::not_at<p::one<':'>>> {};

// ---- Declarations (chapter 5) ----

struct type_name : p::plus<p::alnum> {};
struct vector_width_number : p::one<'2', '4', '8'> {};
struct vector_width : token<p::seq<p::one<'.'>, p::one<'v'>, vector_width_number, p::not_at<follow>>> {};

struct register_type : type_name {};
struct register_name : name {};
struct register_count : p::plus<p::digit> {};
struct register_range : p::seq<sign<'<'>, p::must<token<register_count>, sign<'>'>>> {};
struct register_item : p::seq<token<register_name>, p::opt<register_range>> {};
struct register_declaration : p::seq<directive<'r', 'e', 'g'>,
                                     p::must<p::opt<vector_width>, token<p::seq<p::one<'.'>, register_type>>,
                                             p::list<register_item, sign<','>>, sign<';'>>> {};

struct space_name : p::sor<p::string<'p', 'a', 'r', 'a', 'm'>, p::string<'s', 'h', 'a', 'r', 'e', 'd'>,
                           p::string<'g', 'l', 'o', 'b', 'a', 'l'>, p::string<'c', 'o', 'n', 's', 't'>,
                           p::string<'l', 'o', 'c', 'a', 'l'>, p::string<'t', 'e', 'x'>> {};
struct space : token<p::seq<p::one<'.'>, space_name, p::opt<p::one<'['>, p::plus<p::digit>, p::one<']'>>,
                            p::not_at<follow>>> {};
struct alignment_number : p::plus<p::digit> {};
struct alignment : p::seq<directive<'a', 'l', 'i', 'g', 'n'>, p::must<token<alignment_number>>> {};
struct pointer : directive<'p', 't', 'r'> {};
struct attribute : p::seq<directive<'a', 't', 't', 'r', 'i', 'b', 'u', 't', 'e'>,
                          p::must<sign<'('>, p::until<p::one<')'>>, skip>> {};
struct pointer_space : p::sor<directive<'g', 'l', 'o', 'b', 'a', 'l'>, directive<'c', 'o', 'n', 's', 't'>,
                              directive<'s', 'h', 'a', 'r', 'e', 'd'>, directive<'l', 'o', 'c', 'a', 'l'>> {};
struct variable_type : type_name {};
struct variable_name : name {};
struct bound_number : p::plus<p::digit> {};
struct bound : p::seq<sign<'['>, p::opt<token<bound_number>>, p::must<sign<']'>>> {};
struct bounds : p::star<bound> {};

// .align and the vector width may stand on both sides of the type's place; nvcc writes ".param .u64 .ptr
// .align 1 name".
struct variable_qualifier : p::sor<alignment, vector_width, attribute> {};
struct variable_declarator
    : p::seq<p::star<variable_qualifier>, token<p::seq<p::one<'.'>, variable_type>>,
             p::star<p::sor<pointer, alignment, pointer_space>>, token<variable_name>, bounds> {};
struct register_space : directive<'r', 'e', 'g'> {};
struct parameter : p::seq<p::sor<space, register_space>, p::must<variable_declarator>> {};
struct parameters : p::seq<sign<'('>, p::must<p::opt<p::list<parameter, sign<','>>>, sign<')'>>> {};

// Numbers, addresses (name, name + 4, generic(name) + 4, one byte of those: 0xff00(name)), and lists of them.
struct initial_integer : integer_operand {};
struct initial_bits32 : float_bits {};
struct initial_bits64 : double_bits {};
struct initial_real : real_operand {};
struct initial_number : token<p::sor<initial_bits32, initial_bits64, initial_integer, initial_real>> {};
struct initial_name : name {};
struct initial_sign : p::one<'+', '-'> {};
struct initial_addend : integer {};
struct initial_sum : p::seq<token<initial_sign>, p::must<token<initial_addend>>> {};
struct generic : p::seq<p::string<'g', 'e', 'n', 'e', 'r', 'i', 'c'>, skip, sign<'('>> {};
struct generic_name : p::seq<generic, p::must<token<initial_name>, sign<')'>>> {};
struct initial_address : p::seq<p::sor<generic_name, token<initial_name>>, p::opt<initial_sum>> {};
struct initial_mask : p::seq<hexadecimal, p::at<skip, p::one<'('>>> {};
struct initial_part : p::seq<token<initial_mask>, sign<'('>, p::must<initial_address, sign<')'>>> {};
struct initial_open : sign<'{'> {};
struct initial_close : sign<'}'> {};
struct initial_item;
struct initial_list : p::seq<initial_open, p::must<p::opt<p::list<initial_item, sign<','>>>, initial_close>> {
};
struct initial_item : p::sor<initial_list, initial_part, initial_number, initial_address> {};
struct initialiser : p::seq<sign<'='>, p::must<initial_item>> {};
struct more_variable : p::seq<sign<','>, p::must<token<variable_name>, bounds, p::opt<initialiser>>> {};
struct extern_directive : directive<'e', 'x', 't', 'e', 'r', 'n'> {};
struct linkage : p::sor<directive<'v', 'i', 's', 'i', 'b', 'l', 'e'>, extern_directive,
                        directive<'w', 'e', 'a', 'k'>, directive<'c', 'o', 'm', 'm', 'o', 'n'>> {};
struct variable_first : p::seq<space, p::must<variable_declarator, p::opt<initialiser>>> {};
struct variable : p::seq<variable_first, p::must<p::star<more_variable>, sign<';'>>> {};
struct module_variable : p::seq<p::star<linkage>, variable> {};

// ---- Directives without meaning for the machine, and source positions ----

struct file_number : p::plus<p::digit> {};
struct file_name : quoted {};
struct file
    : p::seq<directive<'f', 'i', 'l', 'e'>, p::must<token<file_number>, token<file_name>,
                                                    p::star<p::seq<sign<','>, token<p::plus<p::digit>>>>>> {};
struct loc_file : p::plus<p::digit> {};
struct loc_line : p::plus<p::digit> {};
struct loc_column : p::plus<p::digit> {};
struct inlined : p::seq<sign<','>, token<p::plus<p::sor<follow, p::one<'+', ' '>>>>> {};
struct loc : p::seq<directive<'l', 'o', 'c'>, p::must<token<loc_file>, token<loc_line>, token<loc_column>>,
                    p::star<inlined>> {};
struct pragma : p::seq<directive<'p', 'r', 'a', 'g', 'm', 'a'>,
                       p::must<p::until<p::one<';'>, p::sor<quoted, p::any>>, skip>> {};
struct section_body : p::seq<sign<'{'>, p::until<p::one<'}'>>, skip> {};
struct section : p::seq<directive<'s', 'e', 'c', 't', 'i', 'o', 'n'>,
                        p::must<p::until<p::at<p::one<'{'>>>, section_body>> {};
struct alias : p::seq<p::sor<directive<'a', 'l', 'i', 'a', 's'>,
                             directive<'b', 'r', 'a', 'n', 'c', 'h', 't', 'a', 'r', 'g', 'e', 't', 's'>,
                             directive<'c', 'a', 'l', 'l', 't', 'a', 'r', 'g', 'e', 't', 's'>,
                             directive<'c', 'a', 'l', 'l', 'p', 'r', 'o', 't', 'o', 't', 'y', 'p', 'e'>>,
                      p::must<p::until<p::one<';'>>, skip>> {};

// ---- Functions ----

struct scope_open : sign<'{'> {};
struct scope_close : sign<'}'> {};
struct statement;
struct scope : p::seq<scope_open, p::must<p::star<statement>, scope_close>> {};
struct statement
    : p::sor<label, instruction, scope, register_declaration, loc, pragma, variable, file, section, alias> {};

struct body_close : sign<'}'> {};
struct body_open : sign<'{'> {};
struct body : p::seq<body_open, p::must<p::star<statement>, body_close>> {};
struct no_body : sign<';'> {};
struct function_name : name {};
// .maxntid, .reqntid, .minnctapersm, .maxnreg, .noreturn, ...: promises to the hardware.
struct tuning
    : p::seq<p::one<'.'>, p::plus<follow>, skip, p::opt<p::list<token<p::plus<p::digit>>, sign<','>>>> {};
struct return_parameters : parameters {};
struct entry_directive : directive<'e', 'n', 't', 'r', 'y'> {};
struct func_directive : directive<'f', 'u', 'n', 'c'> {};
struct function_end : p::sor<body, no_body> {};
struct entry : p::seq<entry_directive,
                      p::must<token<function_name>, p::opt<parameters>, p::star<tuning>, function_end>> {};
struct func : p::seq<func_directive, p::must<p::opt<return_parameters>, token<function_name>,
                                             p::opt<parameters>, p::star<tuning>, function_end>> {};
struct function : p::seq<p::star<linkage>, p::sor<entry, func>> {};

// ---- Module ----

struct version_number : p::seq<p::plus<p::digit>, p::one<'.'>, p::plus<p::digit>> {};
struct version : p::seq<directive<'v', 'e', 'r', 's', 'i', 'o', 'n'>, p::must<token<version_number>>> {};
struct target_name : p::plus<follow> {};
struct target : p::seq<directive<'t', 'a', 'r', 'g', 'e', 't'>,
                       p::must<token<target_name>, p::star<p::seq<sign<','>, token<p::plus<follow>>>>>> {};
struct address_size_number : p::plus<p::digit> {};
struct address_size : p::seq<directive<'a', 'd', 'd', 'r', 'e', 's', 's', '_', 's', 'i', 'z', 'e'>,
                             p::must<token<address_size_number>>> {};
struct item
    : p::sor<version, target, address_size, file, loc, section, pragma, alias, function, module_variable> {};
struct end_of_text : p::seq<p::opt<p::one<'\0'>>, p::eof> {};
struct module : p::seq<skip, version, p::star<item>, p::must<end_of_text>> {};

}  // namespace qwengpu::ptx::grammar
