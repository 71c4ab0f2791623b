// Two tables joined by a foreign key: many employees name one department, and a department that changes changes them all. Runs without a broker:
//   npx tsx examples/24-foreign-key-join.ts
import { serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

interface Employee {
  readonly name: string;
  readonly department: string | null;
}

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const people = { keySerde: serdes.string, valueSerde: serdes.json<Employee>() };

const builder = new StreamsBuilder();
const departments = builder.table('departments', text);
builder
  .table('employees', people)
  .leftJoin(departments, (employee, department) => `${employee.name}, ${department ?? 'no department'}`, {
    name: 'employee-department',
    foreignKey: (employee) => employee.department,
    materialized: { storeName: 'directory-store', valueSerde: serdes.string },
  })
  .toStream()
  .to('directory');

await using driver = new TopologyTestDriver(builder.build());
const employee = driver.inputTopic('employees', people);
const department = driver.inputTopic('departments', text);
const directory = driver.outputTopic('directory', text);
const show = (what: string) =>
  console.log(
    `${what}: ${directory
      .readAll()
      .map(({ key, value }) => `${key} ${value}`)
      .join('; ')}`,
  );

await department.pipe('d1', 'Engines');
await employee.pipe('1', { name: 'Ada', department: 'd1' });
await employee.pipe('2', { name: 'Bob', department: 'd1' });
await employee.pipe('3', { name: 'Eve', department: null });
show('hired');
await department.pipe('d1', 'Steam engines');
show('renamed');
await employee.pipe('2', { name: 'Bob', department: null });
show('left');

// Prints:
// hired: 1 Ada, Engines; 2 Bob, Engines; 3 Eve, no department
// renamed: 1 Ada, Steam engines; 2 Bob, Steam engines
// left: 2 Bob, no department
